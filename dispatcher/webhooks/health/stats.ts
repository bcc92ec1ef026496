import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { WebhookErrorClass } from "#core/schema/vocabulary/webhook-errors.ts";
import { bucketMs, latencyBoundsMs, type WebhookStats, type WebhookStatsChange } from "#core/storage/webhooks/stats.ts";

/** One request to an endpoint, as it ended. */
export type StatsSample = {
  succeeded: boolean;
  errorClass: WebhookErrorClass | null;
  durationMs: number;
  at: Date;
};

/** Counts requests in memory and stores the changes every few seconds. A kill loses what is not stored yet. */
export type EndpointStats = Part & {
  /** Never waits and never fails. */
  add: (endpointId: string, sample: StatsSample) => void;
  /** Stores what changed since the last time. */
  flush: () => Promise<void>;
};

export type EndpointStatsDeps = {
  rows: Pick<WebhookStats, "add">;
  log: Log;
  everyMs?: number;
};

/** Counters that wait for a write: some 500 bytes each. */
const mostWaiting = 5_000;
const writeRows = 500;
const lastTries = 3;

export const endpointStats = ({ rows, log, everyMs = 5_000 }: EndpointStatsDeps): EndpointStats => {
  const waiting = waitingChanges();

  const flush = async (): Promise<void> => {
    const { changes, dropped } = waiting.takeAll();
    if (dropped > 0) log.warn({ requests: dropped }, "webhook_stats.dropped");
    for (let from = 0; from < changes.length; from += writeRows) {
      try {
        waiting.putBack(await rows.add(changes.slice(from, from + writeRows)));
      } catch (err) {
        log.warn({ err, waiting: changes.length - from }, "webhook_stats.not_stored");
        return waiting.putBack(changes.slice(from)); // the store is away: later
      }
    }
  };
  const flushing = passes({ name: "webhook stats", everyMs, pass: flush, onError: () => undefined });
  return {
    ...flushing,
    add: waiting.add,
    flush,
    stop: async (signal) => {
      await flushing.stop(signal);
      for (let tries = 1; waiting.size() > 0 && tries <= lastTries; tries++) await flush();
    },
  };
};

/** Counters that are not stored yet, one for each endpoint and bucket; of requests beyond the bound only the number is kept. */
const waitingChanges = () => {
  let waiting = new Map<string, WebhookStatsChange>();
  let dropped = 0;
  const changeOf = (endpointId: string, startMs: number): WebhookStatsChange | null => {
    const key = `${endpointId}/${startMs}`;
    const known = waiting.get(key);
    if (known !== undefined) return known;
    if (waiting.size >= mostWaiting) return null;
    const made = { endpointId, start: new Date(startMs), requests: 0, succeeded: 0, errors: {}, latency: {} };
    waiting.set(key, made);
    return made;
  };
  return {
    size: () => waiting.size,
    add: (endpointId: string, sample: StatsSample): void => {
      const change = changeOf(endpointId, Math.floor(sample.at.getTime() / bucketMs) * bucketMs);
      if (change === null) dropped++;
      else count(change, sample);
    },
    takeAll: () => {
      const taken = { changes: [...waiting.values()], dropped };
      waiting = new Map();
      dropped = 0;
      return taken;
    },
    putBack: (changes: readonly WebhookStatsChange[]): void => {
      for (const change of changes) {
        const kept = changeOf(change.endpointId, change.start.getTime());
        if (kept === null) dropped += change.requests;
        else merge(kept, change);
      }
    },
  };
};

const count = (change: WebhookStatsChange, { succeeded, errorClass, durationMs, at }: StatsSample): void => {
  change.requests++;
  if (succeeded) change.succeeded++;
  const bound = bucketOf(durationMs);
  change.latency[bound] = (change.latency[bound] ?? 0) + 1;
  if (errorClass === null) return;
  change.errors = sumOf(change.errors ?? {}, { [errorClass]: 1 });
  change.last_error = { class: errorClass, at };
};

/** Index of the first bound that is not exceeded, or of the last bound. */
const bucketOf = (durationMs: number): number => {
  const index = latencyBoundsMs.findIndex((bound) => durationMs <= bound);
  return index === -1 ? latencyBoundsMs.length - 1 : index;
};

/** Adds `older`, which could not be stored, to what was counted since. */
const merge = (change: WebhookStatsChange, older: WebhookStatsChange): void => {
  change.requests += older.requests;
  change.succeeded += older.succeeded;
  change.errors = sumOf(change.errors ?? {}, older.errors ?? {});
  change.latency = sumOf(change.latency, older.latency);
  const last = change.last_error ?? older.last_error;
  if (last !== undefined) change.last_error = last;
};

const sumOf = <C extends Partial<Record<string, number>>>(one: C, other: C): C => {
  const sum: Partial<Record<string, number>> = { ...one };
  for (const [name, count] of Object.entries(other)) sum[name] = (sum[name] ?? 0) + (count ?? 0);
  return sum as C; // the keys are those of the two
};
