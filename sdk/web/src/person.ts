import type { Installs } from "./install.ts";

type Deps = { install: Installs; flush: () => Promise<void> };

/** What is said of a person. Maps are merged; null removes. */
export type UserChange = {
  tags?: Record<string, string | number | boolean | null>;
  properties?: Record<string, unknown>;
  language?: string | null;
  timezone?: string | null;
  country?: string | null;
  location?: { lat: number; long: number } | null;
};

/** By category and channel whether messages come; and when the person is not to be disturbed, null where the app does not say. */
export type Preferences = {
  categories: Record<string, Record<string, boolean>>;
  quiet_hours: { enabled: boolean; start: string; end: string; own: boolean } | null;
};

export type PreferenceChange = {
  categories?: Preferences["categories"];
  quiet_hours?: { enabled: boolean; start?: string; end?: string } | null;
};

/** Whose browser it is, and what is said of them. What waits is sent before, as it is of the person before. */
export const person = ({ install, flush }: Deps) => {
  const become = async (path: string, externalId: string | null, body: object): Promise<string[]> => {
    await flush();
    const isIdentified = externalId !== null;
    const now = await install.call<{ user_id: string; claimed?: string[] }>(path, {
      method: "POST",
      body,
      isIdentified,
    });
    await install.change({ userId: now.user_id, externalId });
    return now.claimed ?? [];
  };
  const user = <T>(path: string, method: string, body?: object): Promise<T> =>
    install.call<T>(`user${path}`, { method, body });
  return {
    /**
     * This browser is that of a person from now on, who has `aliases`, too: gives the labels of those that another person has and
     * keeps. What the anonymous person before did is theirs where `identityToken` vouches for them.
     * @throws HeraldError
     */
    login: (externalId: string, aliases: Record<string, string> = {}): Promise<string[]> =>
      become("login", externalId, { external_id: externalId, ...(Object.keys(aliases).length > 0 && { aliases }) }),

    /** This browser is nobody's from now on. @throws HeraldError */
    logout: async (): Promise<void> => void (await become("logout", null, {})),

    user: {
      /** Says what the person is like. @throws HeraldError */
      change: async (change: UserChange): Promise<void> => void (await user("", "PATCH", change)),

      /** Gives the person an id under a label; null takes it away. @throws HeraldError */
      alias: async (label: string, id: string | null): Promise<void> => {
        const path = `/aliases/${encodeURIComponent(label)}`;
        await (id === null ? user(path, "DELETE") : user(path, "PUT", { id }));
      },

      /** @throws HeraldError */
      preferences: (): Promise<Preferences> => user("/preferences", "GET"),

      /** Changes what is named. @throws HeraldError */
      prefer: (change: PreferenceChange): Promise<Preferences> => user("/preferences", "PUT", change),
    },
  };
};
