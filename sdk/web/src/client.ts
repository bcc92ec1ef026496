import { details, device, isPushable, language } from "./device.ts";
import { ask } from "./http.ts";
import { type InstallOptions, installs } from "./install.ts";
import { registerWorker, subscribe, type WorkerPlace } from "./push.ts";

export { HeraldError } from "./http.ts";

export type HeraldOptions = InstallOptions & {
  /** Where the worker lies on the site, and below which path it works: `/herald-worker.js` and `/herald/` when left out. */
  worker?: Partial<WorkerPlace>;
};

/** What the service says of an app. */
export type Config = { vapid_public_key: string | null; inbox_enabled: boolean };

/** Who this browser is to the service; nulls before it is registered. */
export type Who = { subscriptionId: string | null; userId: string | null };

/** What the service knows of this browser. */
export type Subscription = { status: "subscribed" | "unsubscribed" | "invalid"; has_token: boolean };

export type Herald = ReturnType<typeof herald>;

/**
 * Herald on one site. Nothing is sent before something is asked of it; a browser is registered when it is needed first.
 * @example const app = herald({ appId: "app_…", url: "https://herald.example" });
 */
export const herald = (options: HeraldOptions) => {
  const install = installs(options);
  const place = { url: "/herald-worker.js", scope: "/herald/", ...options.worker };
  const config = once(() => ask<Config>(install.asking(), "config"));
  const own = <T = Subscription>(method: string, body?: object): Promise<T> =>
    install.call<T>(
      ({ subscriptionId }) => `subscriptions/${subscriptionId}`,
      body === undefined ? { method } : { method, body },
    );

  return {
    config,

    who: async (): Promise<Who> => {
      const { subscriptionId = null, userId = null } = (await install.current()) ?? {};
      return { subscriptionId, userId };
    },

    /** What the service knows of this browser, which is registered without pushes if it was not. */
    subscription: (): Promise<Subscription> => own("GET"),

    /** Whether this browser can show pushes of the site; on an iPhone only once the site is on the home screen. */
    isPushable,

    /**
     * Asks the person for consent and subscribes this browser. Call it where they clicked: browsers ask at a gesture only.
     * `false`: they did not consent.
     * @throws HeraldError, DOMException where there is no push service
     */
    askForPush: async (): Promise<boolean> => {
      const permission = await Notification.requestPermission(); // first: a gesture does not outlive other waits
      if (permission !== "granted") {
        if (permission === "denied") await own("PATCH", { status_detail: details.noPermission });
        return false;
      }
      const { vapid_public_key: key } = await config();
      if (key === null) throw new Error("the app has no web push account");
      const push = await subscribe(await registerWorker(place), key);
      const said = { status_detail: details.subscribed, device: device(), language: language() };
      await own("PATCH", { ...push, ...said, enabled: true });
      await install.change({ token: push.token });
      return true;
    },

    /** No more pushes in this browser, until they are asked for again. */
    optOut: async (): Promise<void> => void (await own("PATCH", { enabled: false })),

    /** Takes this browser out of the service; the next call registers another one. */
    remove: async (): Promise<void> => {
      if ((await install.current())?.secret == null) return;
      await own("DELETE");
      await install.forget();
    },
  };
};

/** What is asked for once; what fails is asked for again. */
const once = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask().catch((error: unknown) => {
      asked = undefined;
      throw error;
    });
    return asked;
  };
};
