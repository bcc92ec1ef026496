import type { Installs } from "./install.ts";

type Deps = { install: Installs; flush: () => Promise<void> };

/** Whose browser it is. What waits is sent before, as it is of the person before. */
export const person = ({ install, flush }: Deps) => {
  const become = async (path: string, externalId: string | null): Promise<void> => {
    await flush();
    const body = externalId === null ? {} : { external_id: externalId };
    const now = await install.call<{ user_id: string }>(path, {
      method: "POST",
      body,
      isIdentified: externalId !== null,
    });
    await install.change({ userId: now.user_id, externalId });
  };
  return {
    /**
     * This browser is that of a person from now on. What the anonymous person before did is theirs, too, where `identityToken` vouches
     * for them.
     * @throws HeraldError
     */
    login: (externalId: string): Promise<void> => become("login", externalId),

    /** This browser is nobody's from now on. @throws HeraldError */
    logout: (): Promise<void> => become("logout", null),
  };
};
