import { Unavailable } from "#core/errors.ts";
import { type Announcer, announcer, changes } from "#core/queue/announce.ts";
import type { Nats } from "#core/queue/connect.ts";
import { isAway, type Publisher, publisher } from "#core/queue/publish.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { Part } from "#core/runtime/lifecycle.ts";
import type { Log } from "#core/runtime/log.ts";
import type { Changes } from "#core/storage/directory.ts";

export type LateNatsDeps = {
  /** Resolves when NATS is there, however long that takes. */
  connect: () => Promise<Nats>;
  subjects: Pick<Subjects, "allConfig" | "config">;
  log: Log;
};

export type LateNats = Part &
  Changes &
  Publisher &
  Announcer & {
    ping: () => Promise<void>;
    /**
     * Asks whoever answers a subject, and gives back the reply's JSON.
     * @throws Unavailable when nobody does within `timeoutMs`
     */
    ask: (subject: string, data: unknown, timeoutMs: number) => Promise<unknown>;
  };

const patienceMs = 2_000; // NATS that is there answers in a few ms

/**
 * NATS for a program that also starts and works without it: publishing fails until it is there, and whatever has been
 * announced before is made up for by forgetting everything then.
 */
export const lateNats = ({ connect, subjects, log }: LateNatsDeps): LateNats => {
  const listeners: ((collection: string, id: string) => void)[] = [];
  const tell = (collection: string, id: string): void => {
    for (const listener of listeners) listener(collection, id);
  };
  let link: { nats: Nats; publisher: Publisher; announced: Part } | null = null;

  const present = () => {
    if (link === null) throw new Unavailable("JetStream");
    return link;
  };

  const begin = async (signal: AbortSignal): Promise<void> => {
    const nats = await connect();
    const announced = changes({ nats, subjects });
    announced.on(tell);
    await announced.start(signal);
    link = { nats, publisher: publisher(nats), announced };
    tell("*", "*");
  };

  return {
    name: "nats",
    on: (listener) => void listeners.push(listener),
    publish: async (...publication) => present().publisher.publish(...publication),
    publishText: async (...publication) => present().publisher.publishText(...publication),
    changed: (collection, id) => {
      if (link !== null) announcer({ nats: link.nats, subjects }).changed(collection, id);
    },
    ping: async () => present().nats.ping(),
    ask: async (subject, data, timeoutMs) => {
      try {
        const { nats } = present();
        if (!nats.isConnected()) throw new Unavailable("NATS");
        return (await nats.nc.request(subject, JSON.stringify(data), { timeout: timeoutMs })).json();
      } catch (error) {
        throw isAway(error) ? new Unavailable("a dispatcher", { cause: error }) : error;
      }
    },
    start: async (signal) => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        log.warn("nats.away");
        resolve();
      }, patienceMs);
      await Promise.race([begin(signal), late]); // credentials that are refused reject, now or later, and end the program
      clearTimeout(timer);
    },
    stop: async (signal) => {
      await link?.announced.stop(signal);
      await link?.nats.close();
    },
  };
};
