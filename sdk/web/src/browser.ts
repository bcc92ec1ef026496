import { details, device, isPushable, language } from "./device.ts";
import type { Installs } from "./install.ts";
import { registerWorker, subscribe, type WorkerPlace } from "./push.ts";

/** What the service knows of this browser. */
export type Subscription = { status: "subscribed" | "unsubscribed" | "invalid"; has_token: boolean };

type Deps = { install: Installs; key: () => Promise<string | null>; place: WorkerPlace };

/** This browser's subscription, and its pushes. */
export const browser = ({ install, key, place }: Deps) => {
  const own = <T = Subscription>(method: string, body?: object): Promise<T> =>
    install.call<T>(
      ({ subscriptionId }) => `subscriptions/${subscriptionId}`,
      body === undefined ? { method } : { method, body },
    );

  return {
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
      const signedBy = await key();
      if (signedBy === null) throw new Error("the app has no web push account");
      const push = await subscribe(await registerWorker(place), signedBy);
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
