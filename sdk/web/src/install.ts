import { details, device, language } from "./device.ts";
import { type Asked, type Asking, ask, HeraldError, type IdentityToken, reach } from "./http.ts";
import { type Install, store } from "./store.ts";

export type InstallOptions = { appId: string; url: string; identityToken?: IdentityToken };

/** An install that the service knows. */
export type Registered = Install & { subscriptionId: string; secret: string };

type Reply = { subscription_id: string; user_id: string; subscription_token?: string | null };

export type Installs = ReturnType<typeof installs>;

/** What this browser is to the service: registered when it is needed first, by one of its tabs. */
export const installs = ({ appId, url, identityToken }: InstallOptions) => {
  const base = url.replace(/\/+$/, "");
  const asking = (install?: Install, isIdentified = install?.externalId != null): Asking => ({
    appId,
    url: base,
    secret: install?.secret ?? null,
    ...(identityToken !== undefined && isIdentified && { identityToken }),
  });

  const fresh = (): Install => unregistered(appId, base);

  const locked = <T>(work: () => Promise<T>): Promise<T> => navigator.locks.request(`herald-${appId}`, work);

  const register = async (): Promise<Registered> => {
    const known = { ...((await store.install(appId)) ?? fresh()), url: base };
    if (isRegistered(known)) return known;
    await store.keep(known); // its id comes first, so that a lost answer makes no second install
    const reply = await ask<Reply>(asking(), "subscriptions", { method: "POST", body: registrationOf(known) });
    const { subscription_id: subscriptionId, user_id: userId, subscription_token: secret } = reply;
    if (!secret) throw new Error("the service gave no subscription token");
    const made = { ...known, subscriptionId, secret, userId };
    await store.keep(made);
    return made;
  };

  const registered = (): Promise<Registered> => locked(register);

  /** Changes what is kept of it, whatever other tabs keep at the same moment. */
  const change = (some: Partial<Install>): Promise<unknown> =>
    locked(async () => store.keep({ ...((await store.install(appId)) ?? fresh()), ...some }));

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
    forget: (): Promise<unknown> => locked(() => store.forget(appId)),
    ...calls({ asking, registered, renew }),
  };
};

type Calling = {
  asking: (install: Install, isIdentified?: boolean) => Asking;
  registered: () => Promise<Registered>;
  renew: (lost: Registered) => Promise<Registered>;
};

/** Asks as an install. One that the service lost is made anew, once. */
const calls = ({ asking, registered, renew }: Calling) => {
  const alive = async <T>(once: (known: Registered) => Promise<T>): Promise<T> => {
    const known = await registered();
    return once(known).catch(async (error: unknown) => {
      if (!isLost(error)) throw error;
      return once(await renew(known));
    });
  };
  return {
    call: <T>(path: Of<string>, asked: Of<Asked> = {}): Promise<T> =>
      alive((known) => {
        const what = ofInstall(asked, known);
        return ask<T>(asking(known, what.isIdentified), ofInstall(path, known), what);
      }),

    /** The same, for streams. */
    reach: (path: string, asked: Asked): Promise<Response> => alive((known) => reach(asking(known), path, asked)),
  };
};

/** The same for each install, or what follows from it. */
type Of<T extends string | object> = T | ((install: Registered) => T);

const ofInstall = <T extends string | object>(value: Of<T>, install: Registered): T =>
  typeof value === "function" ? value(install) : value;

const unregistered = (appId: string, url: string): Install => ({
  appId,
  url,
  installId: crypto.randomUUID(),
  subscriptionId: null,
  secret: null,
  userId: null,
  token: null,
});

/** What an install says of itself before its person has given a permission. */
const registrationOf = ({ installId }: Install): object => ({
  channel: "web_push",
  token: null,
  status_detail: details.noPermission,
  device: device(),
  language: language(),
  install_id: installId,
});

const isRegistered = (install: Install): install is Registered =>
  install.subscriptionId !== null && install.secret !== null;

const isLost = (error: unknown): boolean =>
  error instanceof HeraldError && error.status === 401 && error.code !== "HS_IDENTITY_TOKEN_INVALID";
