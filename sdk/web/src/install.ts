import { details, device, language } from "./device.ts";
import { type Asked, type Asking, ask, HeraldError, type IdentityToken } from "./http.ts";
import { type Install, store } from "./store.ts";

export type InstallOptions = { appId: string; url: string; identityToken?: IdentityToken };

/** An install that the service knows. */
export type Registered = Install & { subscriptionId: string; secret: string };

type Reply = { subscription_id: string; user_id: string; subscription_token?: string | null };

/** What this browser is to the service: registered when it is needed first, by one of its tabs. */
export const installs = ({ appId, url, identityToken }: InstallOptions) => {
  const base = url.replace(/\/+$/, "");
  const asking = (install?: Install): Asking => ({
    appId,
    url: base,
    secret: install?.secret ?? null,
    ...(identityToken !== undefined && { identityToken }),
  });

  const fresh = (): Install => ({
    appId,
    url: base,
    installId: crypto.randomUUID(),
    subscriptionId: null,
    secret: null,
    userId: null,
    token: null,
  });

  const locked = <T>(work: () => Promise<T>): Promise<T> => navigator.locks.request(`herald-${appId}`, work);

  const register = async (): Promise<Registered> => {
    const known = { ...((await store.install(appId)) ?? fresh()), url: base };
    if (isRegistered(known)) return known;
    await store.keep(known); // its id comes first, so that a lost answer makes no second install
    const reply = await ask<Reply>(asking(), "subscriptions", {
      method: "POST",
      body: {
        channel: "web_push",
        token: null,
        status_detail: details.noPermission,
        device: device(),
        language: language(),
        install_id: known.installId,
      },
    });
    const { subscription_id: subscriptionId, user_id: userId, subscription_token: secret } = reply;
    if (!secret) throw new Error("the service gave no subscription token");
    const made = { ...known, subscriptionId, secret, userId };
    await store.keep(made);
    return made;
  };

  const registered = (): Promise<Registered> => locked(register);

  /** Changes what is kept of it, whatever other tabs keep at the same moment. */
  const change = (some: Partial<Install>): Promise<void> =>
    locked(async () => void (await store.keep({ ...((await store.install(appId)) ?? fresh()), ...some })));

  /** Another install, as the service does not know the last one any more. */
  const renew = (lost: Registered): Promise<Registered> =>
    locked(async () => {
      const now = await store.install(appId);
      if (now?.secret === lost.secret) await store.keep(fresh());
      return register();
    });

  return {
    asking,
    registered,
    change,
    current: (): Promise<Install | undefined> => store.install(appId),
    forget: (): Promise<void> => locked(async () => void (await store.forget(appId))),

    /** Asks as this install. One that the service lost is made anew, once. */
    call: async <T>(
      path: string | ((of: Registered) => string),
      asked: Asked | ((of: Registered) => Asked) = {},
    ): Promise<T> => {
      const once = (of: Registered) =>
        ask<T>(asking(of), typeof path === "string" ? path : path(of), typeof asked === "function" ? asked(of) : asked);
      const install = await registered();
      try {
        return await once(install);
      } catch (error) {
        if (!isLost(error)) throw error;
        return once(await renew(install));
      }
    },
  };
};

const isRegistered = (install: Install): install is Registered =>
  install.subscriptionId !== null && install.secret !== null;

const isLost = (error: unknown): boolean =>
  error instanceof HeraldError && error.status === 401 && error.code !== "HS_IDENTITY_TOKEN_INVALID";
