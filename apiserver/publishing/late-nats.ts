import { setTimeout as sleep } from "node:timers/promises";
import { Unavailable } from "#core/errors.ts";
import { type Announcer, announcer, changes } from "#core/queue/announce.ts";
import { inboxNotices, type NoticeInboxes } from "#core/queue/inbox-notices.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { isAway, type Publisher, publisher } from "#core/queue/jetstream/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Tracer } from "#core/runtime/tracing/tracer.ts";
import type { Changes } from "#core/storage/directory.ts";
import { type LateListeners, lateListeners } from "./late-listeners.ts";

export type LateNatsDeps = {
  /** Resolves when NATS is there, however long that takes. */
  connect: () => Promise<Nats>;
  subjects: Pick<Subjects, "allConfig" | "config" | "inboxNotices">;
  tracer?: Pick<Tracer, "child">;
  log: Log;
};

export type LateNats = Part &
  Changes &
  Publisher &
  Announcer & {
    ping: () => Promise<void>;
    /** Listens to a core subject, also when NATS comes later or anew; the listener is called whenever something may have come. */
    listen: LateListeners["listen"];
    /** Tells that inboxes changed. */
    noticeInboxes: NoticeInboxes;
    /**
     * Asks whoever answers a subject, and gives back the reply's JSON.
     * @throws Unavailable when nobody does within `timeoutMs`
     */
    ask: (subject: string, data: unknown, timeoutMs: number) => Promise<unknown>;
  };

const startWaitMs = 2_000; // NATS that is there answers in a few ms
const pauseMs = 5_000; // after an attempt that failed; while nobody listens an attempt waits by itself

/**
 * NATS for a program that also starts and works without it: publishing fails until it is there, and whatever has been
 * announced before is made up for by forgetting everything then.
 */
export const lateNats = (deps: LateNatsDeps): LateNats => {
  const listeners: Parameters<Changes["on"]>[0][] = [];
  const late = lateListeners();
  const notify: Announcer["changed"] = (...change) => {
    for (const listener of listeners) listener(...change);
    const nats = link.current()?.nats;
    if (change[0] === "*" && nats !== undefined) late.linked(nats.nc);
  };
  const link = keptLink(deps, notify);
  return {
    name: "nats",
    on: (listener) => void listeners.push(listener),
    publish: async (...publication) => link.present().publisher.publish(...publication),
    publishText: async (...publication) => link.present().publisher.publishText(...publication),
    changed: (...change) => {
      const nats = link.current()?.nats;
      if (nats !== undefined) announcer({ nats, subjects: deps.subjects }).changed(...change);
    },
    ping: async () => link.present().nats.ping(),
    listen: late.listen,
    noticeInboxes: (userIds) => {
      const nats = link.current()?.nats;
      if (nats !== undefined) inboxNotices({ nats, subjects: deps.subjects })(userIds);
    },
    ask: async (subject, data, timeoutMs) => {
      try {
        const { nats } = link.present();
        if (!nats.isConnected()) throw new Unavailable("NATS");
        return (await nats.nc.request(subject, JSON.stringify(data), { timeout: timeoutMs })).json();
      } catch (error) {
        throw isAway(error) ? new Unavailable("a dispatcher", { cause: error }) : error;
      }
    },
    start: async () => {
      const { promise: goOn, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        deps.log.warn("nats.away");
        resolve();
      }, startWaitMs);
      link.keep(resolve);
      await goOn;
      clearTimeout(timer);
    },
    stop: link.stop,
  };
};

type Link = { nats: Nats; publisher: Publisher; announced: Part };

/** A link that is made anew, for as long as the program runs, when it cannot be made or has ended for good. */
const keptLink = ({ connect, subjects, tracer, log }: LateNatsDeps, notify: Announcer["changed"]) => {
  const stopping = new AbortController();
  let current: Link | null = null;

  const begin = async (): Promise<Link> => {
    const nats = await connect();
    try {
      const announced = changes({ nats, subjects });
      announced.on(notify);
      await announced.start(stopping.signal);
      stopping.signal.throwIfAborted();
      return { nats, publisher: publisher(nats, tracer), announced };
    } catch (error) {
      await nats.close();
      throw error;
    }
  };
  /** Resolves when the link has ended, which it does not by a lost connection: that comes back by itself. */
  const untilClosed = async (onLinked: () => void): Promise<unknown> => {
    current = await begin();
    notify("*", "*");
    onLinked();
    return current.nats.nc.closed();
  };
  const keep = async (onLinked: () => void): Promise<void> => {
    while (!stopping.signal.aborted) {
      const err = await untilClosed(onLinked).catch((error: unknown) => error);
      if (stopping.signal.aborted) return;
      await current?.nats.close();
      current = null;
      log.error({ err }, "nats.failed");
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined); // or until the program stops
    }
  };
  return {
    current: () => current,
    present: (): Link => {
      if (current === null) throw new Unavailable("JetStream");
      return current;
    },
    keep: (onLinked: () => void): void => void keep(onLinked),
    stop: async (signal: AbortSignal): Promise<void> => {
      stopping.abort(new Error("the program is stopping"));
      await current?.announced.stop(signal);
      await current?.nats.close();
    },
  };
};
