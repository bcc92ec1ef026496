import type { Clock } from "#core/domain/clock.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { deliveryEvents } from "#core/schema/events/messages.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Gone } from "#core/storage/people/invalidated.ts";
import type { Lease } from "../work/lease.ts";
import type { Delivered, Work } from "./delivery/deliver.ts";
import { retryChunks } from "./delivery/retry.ts";

export type FollowUpDeps = {
  chunks: { keep: (chunks: readonly ChunkRow[]) => Promise<void> };
  subscriptions: { invalidate: (gone: readonly Gone[], now: Date) => Promise<void> };
  events: Pick<EventPublisher, "publish">;
  clock: Clock;
};

/**
 * What follows from a run, before its chunk may end: retries are kept, dead addresses marked, events published. Every
 * step may run twice. False when the events could not be published now: the chunk is then run again. Once the lease is
 * lost, retries are left to who took over: they try the same recipients, and two retries of one would both be sent.
 */
export const followUp =
  (deps: FollowUpDeps) =>
  async (
    { chunk, message }: Pick<Work, "chunk" | "message">,
    delivered: Delivered,
    { isLost }: Pick<Lease, "isLost">,
  ): Promise<boolean> => {
    const now = deps.clock.now();
    if (!isLost()) await deps.chunks.keep(retryChunks(chunk, delivered.again, now));
    if (delivered.invalid.length > 0) await deps.subscriptions.invalidate(delivered.invalid, now);
    return deps.events.publish(chunk.tenant_id, delivered.stored.flatMap(eventOf), message.traceparent);
  };

/** Source: docs/reference/events.md#kinds. */
const eventOf = (row: DeliveryRow): EventEnvelope[] => {
  if (row.status === "sent") return [deliveryEvent(row, "delivery.sent")];
  const isFailed = row.status === "failed" || row.status === "errored";
  return [
    ...(isFailed ? [deliveryEvent(row, "delivery.failed")] : []),
    ...(row.bounce_type === undefined ? [] : [deliveryEvent(row, "delivery.bounced")]),
  ];
};

const deliveryEvent = (row: DeliveryRow, kind: keyof typeof deliveryEvents): EventEnvelope =>
  makeEvent({
    kind,
    appId: row.app_id,
    subjectId: row._id,
    at: row.created_at,
    from: [row._id],
    data: showAs(deliveryEvents[kind].data, { ...row, delivery_id: row._id, retryable: false }),
  });
