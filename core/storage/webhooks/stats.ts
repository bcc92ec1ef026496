import type { AnyBulkWriteOperation, Db } from "mongodb";
import { dayMs } from "../../domain/durations.ts";
import type { WebhookErrorClass } from "../../schema/vocabulary/webhook-errors.ts";
import type { HealthWindow } from "../../schema/webhooks/webhook.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { refusedOf } from "../mongo/duplicate.ts";
import { byId } from "../mongo/loader.ts";

/** What one endpoint's requests of five minutes were like. `_id` is `<endpoint>/<start in ms>`, so that it sorts by time. */
export type WebhookStatsRow = {
  _id: string;
  start: Date;
  requests: number;
  succeeded: number;
  /** Failed requests by their class. */
  errors?: Partial<Record<WebhookErrorClass, number>>;
  /** The last one that a process wrote. */
  last_error?: LastError;
  /** How many took no longer than each of {@link latencyBoundsMs}, and longer than the one before; by its index. */
  latency: Record<string, number>;
};

export type LastError = { class: WebhookErrorClass; at: Date };

/** What is to be added to a row. */
export type WebhookStatsChange = Omit<WebhookStatsRow, "_id"> & { endpointId: string };

export const bucketMs = 300_000;

/**
 * Upper bounds of the latency histogram, ms: each about 1.7 times the one before. What the standard deadline of 10 s
 * cut off counts as 11 s, what the longest one did as 31 s.
 */
export const latencyBoundsMs = [
  1, 2, 3, 5, 9, 15, 25, 45, 75, 130, 220, 400, 650, 1_100, 2_000, 3_500, 6_000, 11_000, 18_000, 31_000,
] as const;

export const webhookStatsCollection: CollectionSpec = {
  name: "webhook_stats",
  indexes: [
    // a day is read: two hours more, for clocks that differ
    { key: { start: 1 }, name: "retention", expireAfterSeconds: 26 * 3_600 },
  ],
  owner: { kind: "webhook", member: "_id" },
  appRemoval: { kept: "counts, for a day" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

export type WebhookStats = ReturnType<typeof webhookStats>;

/** How endpoints have been doing. */
export const webhookStats = (db: Db) => {
  const rows = collectionOf<WebhookStatsRow>(db, webhookStatsCollection);
  const bucket = byId(rows);
  return {
    /** Adds to what is stored, in one write; gives back what could not be written, to be added later. */
    add: async (changes: readonly WebhookStatsChange[]): Promise<WebhookStatsChange[]> => {
      try {
        await rows.bulkWrite(changes.map(added), { ordered: false });
        return [];
      } catch (error) {
        return refusedOf(changes, error);
      }
    },

    /** The last hour and the last day, in whole buckets. */
    summary: async (endpointId: string, now: Date): Promise<{ last_hour: HealthWindow; last_day: HealthWindow }> => {
      const day = { $gte: idOf(endpointId, agoMs(now, dayMs)), $lte: idOf(endpointId, now.getTime()) };
      const found = await rows
        .find({ _id: day })
        .sort({ _id: 1 })
        .limit(bucketsPerDay)
        .batchSize(bucketsPerDay)
        .toArray();
      const hour = found.filter(({ start }) => start.getTime() >= agoMs(now, hourMs));
      return { last_hour: windowOf(hour), last_day: windowOf(found) };
    },

    /** As in `summary`; those of several endpoints that are asked for at the same time are read at once. */
    lastHour: async (endpointId: string, now: Date): Promise<HealthWindow> => {
      const startsAt = agoMs(now, hourMs);
      const ids = Array.from({ length: bucketsPerHour }, (_, n) => idOf(endpointId, startsAt + n * bucketMs));
      return windowOf((await Promise.all(ids.map(bucket))).filter((row) => row !== null));
    },
  };
};

const hourMs = 3_600_000;
const bucketsPerHour = hourMs / bucketMs + 1; // the oldest is only partly of the hour
const bucketsPerDay = dayMs / bucketMs + 1;

const idOf = (endpointId: string, startMs: number): string => `${endpointId}/${startMs}`;

/** Start of the bucket that holds the instant so long ago. */
const agoMs = (now: Date, ms: number): number => Math.floor((now.getTime() - ms) / bucketMs) * bucketMs;

const added = (change: WebhookStatsChange): AnyBulkWriteOperation<WebhookStatsRow> => {
  const { endpointId, start, requests, succeeded, errors, last_error, latency } = change;
  return {
    updateOne: {
      filter: { _id: idOf(endpointId, start.getTime()) },
      update: {
        $setOnInsert: { start },
        $inc: { requests, succeeded, ...under("errors", errors ?? {}), ...under("latency", latency) },
        ...(last_error !== undefined && { $set: { last_error } }),
      },
      upsert: true,
    },
  };
};

const under = (member: "errors" | "latency", counts: Partial<Record<string, number>>) =>
  Object.fromEntries(Object.entries(counts).map(([name, count]) => [`${member}.${name}`, count]));

/** Buckets, oldest first, as one window. */
const windowOf = (buckets: readonly WebhookStatsRow[]): HealthWindow => {
  const requests = sum(buckets.map((bucket) => bucket.requests));
  const succeeded = sum(buckets.map((bucket) => bucket.succeeded));
  const counts = latencyBoundsMs.map((_, i) => sum(buckets.map(({ latency }) => latency[i] ?? 0)));
  return {
    requests,
    success_rate: requests === 0 ? null : succeeded / requests,
    p50_ms: quantile(counts, 0.5),
    p99_ms: quantile(counts, 0.99),
    last_error_class: buckets.findLast(({ last_error }) => last_error !== undefined)?.last_error?.class ?? null,
  };
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Upper bound of the bucket that the share falls into; null when nothing was counted. */
const quantile = (counts: readonly number[], share: number): number | null => {
  const wanted = Math.max(1, Math.ceil(sum(counts) * share));
  let seen = 0;
  const index = counts.findIndex((count) => (seen += count) >= wanted);
  return latencyBoundsMs[index] ?? null;
};
