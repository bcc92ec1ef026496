import { refusingOf } from "#core/channels/refusals.ts";
import type { Clock } from "#core/domain/clock.ts";
import { uncutEvent } from "#core/domain/events/make.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { deliveryEvents } from "#core/schema/events/messages.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Gone } from "#core/storage/people/ended.ts";
import type { TellFailed } from "../conversations/failed.ts";
import type { About } from "../suppressions/causes.ts";
import type { Lease } from "../work/lease.ts";
import { insteadChunks } from "./delivery/instead.ts";
import type { Later } from "./delivery/later.ts";
import { retryChunks } from "./delivery/retry.ts";
import type { Delivered, Work } from "./delivery/work.ts";
import { fallbackChunks, fallsBack, lookChunks } from "./fallback/chunks.ts";

export type FollowUpDeps = {
  chunks: {
    keep: (chunks: readonly ChunkRow[]) => Promise<unknown>;
    recipientsOfRetries: (chunkId: string) => Promise<string[]>;
  };
  /** Keeps whom a run leaves for later. */
  keepLater: (part: Pick<Work, "chunk" | "message">, later: readonly Later[]) => Promise<void>;
  subscriptions: { invalidate: (gone: readonly Gone[], now: Date) => Promise<void> };
  /** Closes sessions that the provider says are none, and prolongs those of people whom an advertisement led here. */
  moveSessions: (deliveries: readonly DeliveryRow[]) => Promise<void>;
  /** The events of replies in conversations that failed. */
  repliesFailed: TellFailed;
  /** Suppresses addresses that bounced, that bounce again and again, or whose owner wants nothing more. */
  suppress: (refused: readonly About[], now: Date) => Promise<void>;
  events: Pick<EventPublisher, "publish">;
  clock: Clock;
};

/**
 * What follows from a run, before its chunk may end: retries are kept, dead addresses marked, sessions closed, events published. Every
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
    if (!isLost()) await deps.chunks.keep(retryChunks({ chunk, message }, delivered.again, now));
    if (!isLost()) await keepInstead(deps, { chunk, message }, delivered);
    if (!isLost() && fallsBack(message)) await deps.chunks.keep(lookChunks({ chunk, message }, delivered.stored, now));
    if (!isLost() && delivered.later !== undefined) await deps.keepLater({ chunk, message }, delivered.later);
    if (delivered.invalid.length > 0) await deps.subscriptions.invalidate(delivered.invalid, now);
    await deps.moveSessions(delivered.stored);
    const refused = [...bouncesOf(delivered), ...delivered.stored.flatMap(refusedOf)];
    if (refused.length > 0) await deps.suppress(refused, now);
    const events = [...delivered.stored.flatMap(eventOf), ...(await deps.repliesFailed(delivered.stored))];
    return deps.events.publish(chunk.tenant_id, events, message.traceparent);
  };

/** Chunks for who is sent to in the place of others, but for those that an earlier run has kept. */
const keepInstead = async (
  { chunks, clock }: FollowUpDeps,
  { chunk, message }: Pick<Work, "chunk" | "message">,
  { instead = [] }: Delivered,
): Promise<void> => {
  if (instead.length === 0) return;
  const kept = new Set(chunk.fence === 1 ? [] : await chunks.recipientsOfRetries(chunk._id)); // 1: nobody ran it before
  const left = instead.filter(({ subscriptionId }) => !kept.has(subscriptionId));
  const now = clock.now();
  const isFallback = chunk.looks_at !== undefined;
  await chunks.keep(isFallback ? fallbackChunks({ chunk, message }, left, now) : insteadChunks(chunk, left, now));
};

/** What mail servers refused as they were handed it; an address that is not believed to be gone is not among them. */
const bouncesOf = ({ stored, invalid }: Delivered): About[] => {
  const gone = new Set(invalid.map(({ _id }) => _id));
  return stored.flatMap((row): About[] => {
    const { bounce_type: type, provider_code: providerCode = null, error_code: code = "HARD_BOUNCE" } = row;
    if (type === undefined || row.sent_at || (type === "hard" && !gone.has(row.subscription_id))) return [];
    const refused = { kind: "bounced", type, code, providerCode, reason: row.error_message ?? "" } as const;
    const receipt = { deliveryId: row._id, providerId: null, address: null, at: row.created_at, ...refused };
    return [{ row, receipt, isAnswer: true, isBelieved: true }];
  });
};

/** What a provider refused because its recipient has opted out, or may not be there. */
const refusedOf = (row: DeliveryRow): About[] => {
  const { error_code: code, error_message: reason = "", provider_code: providerCode = null } = row;
  const ends = suppressionBy(row);
  if (code === undefined || ends === null || row.sent_at !== undefined) return [];
  const refused = { kind: "failed", code, providerCode, reason, ...ends } as const;
  const receipt = { deliveryId: row._id, providerId: null, address: null, at: row.created_at, ...refused };
  return [{ row, receipt, isAnswer: true }];
};

/** As what the refusal of a delivery suppresses its address; null when it does not. */
export const suppressionBy = ({ channel, provider_code: providerCode = "", error_code: code }: DeliveryRow) => {
  const refusing = refusingOf(channel, providerCode);
  if (refusing?.isDoubtful) return { suppress: "invalid_address", isDoubtful: true } as const;
  const isOut = refusing === undefined ? code === "RECIPIENT_OPTED_OUT" : refusing.kind === "opted_out";
  return isOut ? { suppress: refusing?.suppress ?? ("carrier_opt_out" as const) } : null;
};

/** Source: docs/reference/events.md#kinds. */
const eventOf = (row: DeliveryRow): EventEnvelope[] => {
  if (row.sent_at !== undefined) return [deliveryEvent(row, "delivery.sent")]; // receipts tell what came of it since
  const isFailed = row.status === "failed" || row.status === "errored";
  return [
    ...(isFailed ? [deliveryEvent(row, "delivery.failed")] : []),
    ...(row.bounce_type === undefined ? [] : [deliveryEvent(row, "delivery.bounced")]),
  ];
};

const deliveryEvent = (row: DeliveryRow, kind: keyof typeof deliveryEvents): EventEnvelope =>
  uncutEvent({
    kind,
    appId: row.app_id,
    subjectId: row._id,
    at: row.created_at,
    from: [row._id],
    data: showAs(deliveryEvents[kind].data, { ...row, delivery_id: row._id, retryable: false }),
  });
