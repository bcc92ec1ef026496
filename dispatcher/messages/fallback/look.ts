import type { Clock } from "#core/domain/clock.ts";
import { minuteMs } from "#core/domain/durations.ts";
import { fallbackOf, isMissed } from "#core/domain/messages/fallback.ts";
import { ranked } from "#core/domain/messages/one-per-user.ts";
import type { FallbackStep } from "#core/schema/messages/fallback.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { Choices } from "#core/storage/messages/choices.ts";
import { type DeliveryRow, deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { OwnedSubscription } from "#core/storage/segments/aimed.ts";
import { suppress } from "../delivery/delivery-row.ts";
import type { Instead } from "../delivery/instead.ts";
import { notAttempted } from "../delivery/later.ts";
import type { Deliver, Delivered, Work } from "../delivery/work.ts";
import { fallbackChunks } from "./chunks.ts";

export type LookDeps = {
  deliveries: {
    existing: (ids: readonly string[]) => Promise<DeliveryRow[]>;
    /** What of a message was sent to these people. */
    sentTo: (message: MessageRow, userIds: readonly string[]) => Promise<DeliveryRow[]>;
    /** Stores deliveries; gives the ids that were stored before. */
    record: (rows: readonly DeliveryRow[]) => Promise<Set<string>>;
  };
  /** The addresses of people on a channel that the message may reach. */
  addressesOf: (message: MessageRow, channel: Channel, userIds: readonly string[]) => Promise<OwnedSubscription[]>;
  choices: Pick<Choices, "claim">;
  load: (ids: readonly string[]) => Promise<Reached[]>;
  /** Reserves what is sent beyond what the message had; false when the plan has no room for it. */
  reserve: (message: MessageRow, wanted: { step: number; by: string; count: number }) => Promise<boolean>;
  clock: Clock;
};

type Look = { work: Work; step: FallbackStep; position: number };

/**
 * Looks at what was sent to the recipients of a chunk a while ago: each person whom it did not reach is sent to over the
 * next channel, once, whichever of their addresses are looked at by whom. Safe to run twice: who sends to a person is written
 * down first. Source: docs/reference/fallback.md.
 */
export const lookAgain =
  (deps: LookDeps): Deliver =>
  async (work, lease) => {
    const position = work.chunk.looks_at ?? 0;
    const step = fallbackOf(work.message.options)[position];
    if (step === undefined) return nobody();
    const look = { work, step, position };
    const missed = await missedIn(deps, look);
    if (lease.isOver()) return { ...nobody(), halted: true };
    const instead = await addressesFor(deps, look, missed);
    if (instead.length === 0) return nobody();
    const wanted = { step: position, by: work.chunk._id, count: instead.length };
    if (await deps.reserve(work.message, wanted)) return { ...nobody(), instead };
    return beyondQuota(deps, look, instead);
  };

/** By person, a delivery that did not reach them, of those whom no other did. */
const missedIn = async (
  { deliveries, clock }: LookDeps,
  { work: { chunk, message }, step, position }: Look,
): Promise<Map<string, DeliveryRow>> => {
  const found = await deliveries.existing(chunk.recipients.map((id) => deliveryIdOf(message._id, id)));
  const missed = new Map<string, DeliveryRow>();
  for (const row of found) if (row.user_id !== null && isMissed(row, step.if)) missed.set(row.user_id, row);
  const dueMs = clock.now().getTime() - step.after_minutes * minuteMs;
  const own = new Set(found.map(({ _id }) => _id));
  for (const row of missed.size === 0 ? [] : await deliveries.sentTo(message, [...missed.keys()])) {
    const isOfStage = (row.fallback_of === undefined) === (position === 0);
    if (step.if === "failed" && !isOfStage) continue; // that it went well on another channel is why it was looked at
    const isYoung = isOfStage && !own.has(row._id) && (row.sent_at?.getTime() ?? 0) > dueMs; // looked at by itself
    if (isYoung || !isMissed(row, step.if)) missed.delete(row.user_id ?? "");
  }
  return missed;
};

/** One address of each person who has one on the channel, and whom nobody else sends it to. */
const addressesFor = async (
  { addressesOf, choices, clock }: LookDeps,
  { work: { chunk, message }, step, position }: Look,
  missed: ReadonlyMap<string, DeliveryRow>,
): Promise<Instead[]> => {
  if (missed.size === 0) return [];
  const all = await addressesOf(message, step.channel, [...missed.keys()]);
  const first = [...Map.groupBy(all, ({ user_id: userId }) => userId)].flatMap(([userId, own]) => {
    const [address] = ranked(own, undefined);
    return address === undefined ? [] : [{ userId, subscriptionId: address._id }];
  });
  const userIds = first.map(({ userId }) => userId);
  const ours = await choices.claim(message._id, { step: position, by: chunk._id }, userIds, clock.now());
  return first.flatMap(({ userId, subscriptionId }) =>
    ours.has(userId) ? [{ subscriptionId, channel: step.channel, of: missed.get(userId)?._id ?? "" }] : [],
  );
};

/** Stores that they get nothing. */
const beyondQuota = async (
  { load, deliveries, clock }: LookDeps,
  { work }: Look,
  instead: readonly Instead[],
): Promise<Delivered> => {
  const now = clock.now();
  const [chunk] = fallbackChunks(work, instead, now);
  if (chunk === undefined) return nobody();
  const rows = await load(chunk.recipients);
  const stored = rows.map((row) => suppress(notAttempted(chunk, row, now), "quota"));
  const known = await deliveries.record(stored);
  return { ...nobody(), stored, fresh: stored.filter(({ _id }) => !known.has(_id)) };
};

const nobody = (): Delivered => ({ stored: [], fresh: [], again: [], invalid: [], doubted: 0, halted: false });
