import type { Clock } from "#core/domain/clock.ts";
import { isOfAddress } from "#core/domain/messages/address-reasons.ts";
import { ranked } from "#core/domain/messages/one-per-user.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ChoiceRow, Choices } from "#core/storage/messages/choices.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { OwnedSubscription } from "#core/storage/segments/aimed.ts";
import { deliveryIdOf, suppress } from "./delivery/delivery-row.ts";
import type { Work } from "./delivery/work.ts";
import type { Recipients, Strategy } from "./strategy.ts";

export type OnePerUserDeps = {
  recipients: { load: (ids: readonly string[]) => Promise<Reached[]> };
  /** Those subscriptions of some people that are part of the audience. */
  addressesOf: (message: MessageRow, userIds: readonly string[]) => Promise<OwnedSubscription[]>;
  choices: Choices;
  clock: Clock;
};

type Order = ChoiceRow["order"];

/**
 * Has a message with `one_per_user` reach each person once. The order in which the addresses of a person are tried is
 * written down by whoever looks at the person first, and never changes: every chunk sends to the first one alone, and only
 * what comes instead of an address goes to the next. Source: docs/reference/messages.md#one-per-user.
 */
export const onePerUser = (deps: OnePerUserDeps): Required<Pick<Strategy, "recipientsOf" | "insteadOf">> => ({
  recipientsOf: async (work) => {
    const { chunk, message } = work;
    const isChosenBefore = chunk.instead_from !== undefined || chunk.fallback !== undefined;
    if (message.options.one_per_user !== true || isChosenBefore) return { work, others: [] };
    return chosenOf(deps, work, work.rows ?? (await deps.recipients.load(chunk.recipients)));
  },

  insteadOf: async ({ message }, stored) => {
    const missed = message.options.one_per_user === true ? stored.filter(isMissed) : [];
    if (missed.length === 0) return [];
    const orders = await deps.choices.of(message._id, idsOf(missed));
    const left = missed.map((row) => behind(orders.get(row.user_id ?? "") ?? [], row));
    const there = await deps.recipients.load(left.flatMap((order) => order.map(({ subscription_id: id }) => id)));
    const known = new Set(there.map(({ _id }) => _id));
    return left.flatMap((order) => {
      const next = order.find(({ subscription_id: id }) => known.has(id));
      return next === undefined ? [] : [{ subscriptionId: next.subscription_id, channel: next.channel }];
    });
  },
});

const chosenOf = async (deps: OnePerUserDeps, work: Work, rows: readonly Reached[]): Promise<Recipients> => {
  const orders = await ordersOf(deps, work.message, rows);
  const isFirst = ({ _id, user_id: userId }: Reached): boolean => orders.get(userId)?.[0]?.subscription_id === _id;
  const now = deps.clock.now();
  const others = rows
    .filter((row) => !isFirst(row))
    .map((subscription) => {
      const deliveryId = deliveryIdOf(work.message._id, subscription._id);
      const attempt = { deliveryId, chunk: work.chunk, subscription, provider: "", now, expiresAt: now };
      return suppress({ ...attempt, isReplaceable: false }, "duplicate_user");
    });
  return { work: { ...work, rows: rows.filter(isFirst) }, others };
};

/** The orders of these people. Who is no part of the audience any more is the only address that is known of them. */
const ordersOf = async (
  { addressesOf, choices, clock }: OnePerUserDeps,
  message: MessageRow,
  rows: readonly Reached[],
): Promise<Map<string, Order>> => {
  const all = Map.groupBy(await addressesOf(message, idsOf(rows)), ({ user_id: userId }) => userId);
  const orders = [...Map.groupBy(rows, ({ user_id: userId }) => userId)].map(([userId, own]): [string, Order] => {
    const order = ranked(all.get(userId) ?? [], message.target.channels);
    return [userId, (order.length > 0 ? order : own).map(({ _id, channel }) => ({ subscription_id: _id, channel }))];
  });
  return choices.keep(message._id, new Map(orders), clock.now());
};

const idsOf = (rows: readonly { user_id: string | null }[]): string[] => [
  ...new Set(rows.flatMap(({ user_id: id }) => id ?? [])),
];

const behind = (order: Order, { subscription_id: id }: DeliveryRow): Order => {
  const place = order.findIndex((one) => one.subscription_id === id);
  return place < 0 ? [] : order.slice(place + 1);
};

/** An address that nothing was handed over for, or that its provider refused: the next one of its user may do better. */
const isMissed = ({ status, sent_at: sentAt, suppression_reason: reason = "" }: DeliveryRow): boolean => {
  if (sentAt !== undefined) return false;
  if (status === "suppressed") return isOfAddress(reason);
  return status === "failed" || status === "errored";
};
