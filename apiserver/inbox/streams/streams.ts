import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { Unavailable } from "#core/errors.ts";
import { type Part } from "#core/runtime/process/lifecycle.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { EventStream } from "../../http/protocol/event-stream.ts";
import { RateLimited } from "../../limits/rate.ts";
import { type CheckDeps, checkStreams } from "./check.ts";
import { type PeopleDeps, watchedPeople } from "./people.ts";
import { reader } from "./reader.ts";
import type { Open, StreamOwner } from "./stream.ts";
import { heartbeat, retryText } from "./text.ts";

export type InboxStreams = {
  /**
   * Opens a stream of the inbox of a device's person; `since` is the revision that it knows already.
   * @throws RateLimited, Unavailable where there are as many as may be
   */
  open: (owner: StreamOwner, since: number | null) => EventStream;
  /** Stops before the server does: its streams end, so that it can. */
  part: Part;
};

export type InboxStreamsDeps = PeopleDeps &
  Omit<CheckDeps, "people" | "streams" | "end"> & {
    most: number;
    count: (open: number) => void;
    clock: Clock;
    random: Random;
  };

/** Streams of a subscription, at most; of one process. */
export const mostOfDevice = 5;

/** Everything that streams inboxes in a process. Source: docs/reference/inbox.md#stream. */
export const inboxStreams = (deps: InboxStreamsDeps): InboxStreams => {
  const { clock, random, most, count, onError } = deps;
  const all = new Set<Open>();
  const ofDevice = new Map<string, number>();
  const people = watchedPeople(deps);
  let isStopping = false;

  const end = (one: Open): void => one.reader.end(retryText(between(retryMs, random)));
  const add = (owner: StreamOwner, since: number | null): Open => {
    const nowMs = clock.now().getTime();
    const stream: Open = {
      ...owner,
      reader: reader({
        onReady: () => stream.isBehind && people.refresh(stream.userId),
        onClosed: () => {
          all.delete(stream);
          take(ofDevice, owner.subscriptionId);
          people.unwatch(stream);
          count(all.size);
        },
      }),
      revision: since,
      isGreeted: false,
      isBehind: true,
      isMoved: false,
      writtenMs: nowMs,
      endsMs: Math.min(nowMs + between(lifetimeMs, random), owner.untilMs),
    };
    all.add(stream);
    ofDevice.set(owner.subscriptionId, (ofDevice.get(owner.subscriptionId) ?? 0) + 1);
    people.watch(stream);
    count(all.size);
    return stream;
  };

  const check = checkStreams({ ...deps, people, streams: all, end });
  const beats = passes({ name: "heartbeats", everyMs: beatMs, pass: async () => beat(all, clock, end), onError });
  const checks = passes({ name: "stream checks", everyMs: checkMs, pass: check, onError });
  return {
    open: (owner, since) => {
      if ((ofDevice.get(owner.subscriptionId) ?? 0) >= mostOfDevice) throw tooMany();
      if (all.size >= most) throw new Unavailable("another stream of an inbox");
      const stream = add(owner, since);
      if (isStopping) end(stream);
      return stream.reader;
    },
    part: {
      name: "inbox streams",
      start: async (signal) => {
        await beats.start(signal);
        await checks.start(signal);
      },
      stop: async (signal) => {
        isStopping = true;
        all.forEach(end);
        await Promise.all([beats.stop(signal), checks.stop(signal)]);
      },
    },
  };
};

const beatMs = 1_000;
const quietMs = 10_000; // with a second until the next beat, well below the 15 s that readers wait
const checkMs = 10_000;
const lifetimeMs = { least: 45 * 60_000, most: 60 * 60_000 };
const retryMs = { least: 1_000, most: 6_000 };

const between = ({ least, most }: { least: number; most: number }, random: Random): number =>
  least + random() * (most - least);

const take = (counts: Map<string, number>, key: string): void => {
  const left = (counts.get(key) ?? 0) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
};

const tooMany = (): RateLimited => {
  const state = { isAllowed: false, limit: mostOfDevice, remaining: 0, resetSeconds: 15, windowSeconds: 15 };
  return new RateLimited("sdk.streams", `a device has ${mostOfDevice} streams at most`, state, { limit: mostOfDevice });
};

/** Has quiet connections carry something, and ends those that have lasted long enough. */
const beat = (all: Iterable<Open>, clock: Clock, end: (one: Open) => void): void => {
  const nowMs = clock.now().getTime();
  for (const one of all) {
    if (nowMs >= one.endsMs) end(one);
    else if (one.reader.isReady() && nowMs - one.writtenMs >= quietMs) {
      one.reader.put(heartbeat);
      one.writtenMs = nowMs;
    }
  }
};
