import { newId } from "#core/domain/ids.ts";
import { isSampled } from "#core/runtime/tracing/traceparent.ts";
import type { EventBatchRow, StoredEvent } from "#core/storage/events/batch-row.ts";
import { sweepAfter } from "#core/storage/work/due.ts";

/** Events of one app that are to be kept. */
export type KeptEvents = {
  tenantId: string;
  appId: string;
  traceparent: string | null;
  events: readonly StoredEvent[];
};

const mostEvents = 1_000; // of one document
const mostCharacters = 1_000_000; // of one document; MongoDB takes 16 MiB

/** One document for an app, more when it would become too large. */
export const rowsOf = (all: readonly KeptEvents[], now: Date): EventBatchRow[] =>
  [...Map.groupBy(all, ({ appId }) => appId).values()].flatMap((ofApp) => {
    const first = ofApp.find(({ traceparent }) => isSampled(traceparent)) ?? ofApp[0];
    return first === undefined
      ? []
      : parts(ofApp.flatMap(({ events }) => events)).map((part) => rowOf(first, part, now));
  });

const parts = (events: readonly StoredEvent[]): StoredEvent[][] => {
  const made: StoredEvent[][] = [];
  let characters = 0;
  for (const event of events) {
    const open = made.at(-1);
    characters += event.text.length;
    if (open !== undefined && open.length < mostEvents && characters <= mostCharacters) {
      open.push(event);
      continue;
    }
    made.push([event]);
    characters = event.text.length;
  }
  return made;
};

type Giver = Omit<KeptEvents, "events">;

export const rowOf = (
  { tenantId, appId, traceparent }: Giver,
  events: readonly StoredEvent[],
  now: Date,
): EventBatchRow => ({
  _id: newId("eventBatch", now),
  tenant_id: tenantId,
  app_id: appId,
  events: events.map(({ id, type, text, once }) => ({ id, type, text, once })),
  bytes: events.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  traceparent,
  due_at: sweepAfter(now), // what is not published by then is published by a dispatcher
  lease: null,
  fence: 0,
  created_at: now,
});

export const sizeOf = (events: readonly StoredEvent[]): number =>
  events.reduce((sum, { text }) => sum + text.length, 0);
