import { randomUUID } from "node:crypto";
import type { Db } from "mongodb";
import { makeEvent } from "#core/domain/events/make.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import type { CallbackQueue } from "#core/queue/callbacks.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { noReferences } from "#core/schema/events/refs.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { recordEvents } from "../../../dispatcher/events/record.ts";

/** What a test says of a custom event. */
export type GivenEvent = {
  name?: string;
  user_id?: string | null;
  external_id?: string | null;
  subscription_id?: string | null;
  properties?: Record<string, unknown>;
  value?: number | null;
  occurred_at?: Date;
  source?: "api" | "sdk";
};

/** An `event.received` as it comes from the stream. */
export const aReceived = (appId: string, given: GivenEvent = {}, now = new Date()): EventEnvelope => {
  const { occurred_at: at = now, ...rest } = given;
  return makeEvent({
    kind: "event.received",
    appId,
    subjectId: given.user_id ?? given.external_id ?? null,
    at: now,
    from: [randomUUID()],
    data: {
      ...noReferences,
      name: "order.paid",
      properties: {},
      value: null,
      source: "api",
      ...rest,
      occurred_at: at.toISOString(),
    },
  });
};

export type Recorder = {
  /** Handles a message of the stream. */
  handle: (events: readonly EventEnvelope[]) => Promise<unknown>;
  /** The events that it has published. */
  published: EventEnvelope[];
  /** The receipts of our own that it has put into their queue. */
  receipts: Receipt[];
};

type RecorderOptions = {
  apps: readonly AppRow[];
  clock?: { now: () => Date };
  /** What each act beyond the store passes through. */
  guard?: <T>(act: () => Promise<T>) => Promise<T>;
};

/** What one dispatcher does with custom events, on the store alone: what it says to others is kept for the test. */
export const aRecorder = (db: Db, { apps, clock, guard = (act) => act() }: RecorderOptions): Recorder => {
  const [published, receipts]: [EventEnvelope[], Receipt[]] = [[], []];
  const keep: CallbackQueue["keep"] = (_, { body }) =>
    guard(async () => void receipts.push(...(JSON.parse(body.toString()) as Receipt[])));
  const handle = recordEvents({
    db,
    directory: { app: async (id) => apps.find(({ _id }) => _id === id) ?? null },
    callbacks: { keep },
    events: { publish: (_, events) => guard(async () => published.push(...events) > 0) },
    peers: { heardOf: () => 1 },
    pauseMs: 0,
    metrics: createMetrics("dispatcher"),
    clock: clock ?? { now: () => new Date() },
  });
  return { handle, published, receipts };
};
