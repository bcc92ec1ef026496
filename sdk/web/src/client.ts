import { browser } from "./browser.ts";
import { ask } from "./http.ts";
import { inbox } from "./inbox/inbox.ts";
import { type InstallOptions, installs } from "./install.ts";
import { outbox } from "./outbox.ts";
import { person } from "./person.ts";
import type { WorkerPlace } from "./push.ts";
import { sessions } from "./sessions.ts";

export type { Subscription } from "./browser.ts";
export { HeraldError, type IdentityToken } from "./http.ts";
export type * from "./inbox/inbox.ts";
export type { PreferenceChange, Preferences, UserChange } from "./person.ts";

export type HeraldOptions = InstallOptions & {
  /** Where the worker lies on the site, and below which path it works: `/herald-worker.js` and `/herald/` when left out. */
  worker?: Partial<WorkerPlace>;
};

/** What the service says of an app. */
export type Config = { vapid_public_key: string | null; inbox_enabled: boolean };

/** Who this browser is to the service; nulls before it is registered. */
export type Who = { subscriptionId: string | null; userId: string | null; externalId: string | null };

/** What belongs to an event beside its name. */
export type Tracked = { properties?: Record<string, unknown>; value?: number };

export type TrackListener = (name: string, properties: Readonly<Record<string, unknown>>) => void;

export type Receipt = {
  type: "received" | "opened" | "clicked" | "dismissed";
  message_id: string;
  /** Of a click. */
  button_id?: string;
  url?: string;
};

export type Herald = ReturnType<typeof herald>;

/**
 * Herald on one site. Nothing is sent before something is asked of it; a browser is registered when it is needed first. Of a registered
 * one sessions are told.
 * @example const app = herald({ appId: "app_…", url: "https://herald.example" });
 */
export const herald = (options: HeraldOptions) => {
  const install = installs(options);
  const out = outbox(options.appId, install);
  const place = { url: "/herald-worker.js", scope: "/herald/", ...options.worker };
  const config = once(() => ask<Config>(install.asking(), "config"));
  sessions(options.appId, install);
  const listeners = new Set<TrackListener>();
  const here = browser({ install, place, key: async () => (await config()).vapid_public_key });

  return {
    ...here,
    ...person({ install, flush: out.flush }),
    config,
    inbox: inbox(options.appId, install),

    /** What the other files of the client are made of. */
    parts: {
      appId: options.appId,
      install,
      keep: out.keep,
      onTracked: (listener: TrackListener): (() => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },

    who: async (): Promise<Who> => {
      const { subscriptionId = null, userId = null, externalId = null } = (await install.current()) ?? {};
      return { subscriptionId, userId, externalId };
    },

    /**
     * Tells of something that the person did. It is kept until the service has it, also while there is no network, and counts once.
     * `false`: as much waits already as may, and it is not kept.
     * @throws RangeError above 32 KiB
     */
    track: (name: string, { properties = {}, value }: Tracked = {}): Promise<boolean> => {
      for (const listener of listeners) listener(name, properties);
      const said = { id: crypto.randomUUID(), name, properties, occurred_at: new Date().toISOString() };
      return out.keep({ path: "events", list: "events", item: value === undefined ? said : { ...said, value } });
    },

    /** Tells what became of a message on this browser; kept as `track` keeps. The worker has told what it saw. */
    report: (receipt: Receipt): Promise<boolean> =>
      out.keep({ path: "receipts", list: "receipts", item: { occurred_at: new Date().toISOString(), ...receipt } }),

    /** Sends now what waits. @throws HeraldError, TypeError when the service cannot be reached; it waits on */
    flush: out.flush,

    /** Takes this browser, and what waits, out of the service; the next call registers another one. */
    remove: async (): Promise<void> => {
      await out.clear();
      await here.remove();
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
