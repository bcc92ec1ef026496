import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Lease } from "../work/lease.ts";
import type { AudienceDeps, PageOf } from "./audience.ts";
import type { Instead } from "./delivery/instead.ts";
import type { Deliver, Delivered, Work } from "./delivery/work.ts";
import type { ChunkBatch, SendChunks, Sent } from "./send-chunks.ts";
import type { First, Turn, TurnResult } from "./turn.ts";

/** What kinds of messages differ in, from their audience to what is noted once they are sent. */
export type Strategy = {
  /** Ids of a page of the subscriptions that it goes to, where its audience is scanned. */
  audienceOf: (of: PageOf, message: MessageRow) => Promise<string[]>;
  /** Moves it on, within the lease of its turn. */
  turn: (first: First, steps: Steps) => Promise<TurnResult>;
  /** Sends chunks of it that were queued. */
  send: (batch: ChunkBatch, lease: Lease, send: SendChunks) => Promise<Sent>;
  /** Which recipients of a piece of work are sent to now, and over which addresses. */
  recipientsOf: (work: Work) => Promise<Recipients>;
  /** Notes what its deliveries come to, once they are stored; gives the addresses that are gone. */
  after: (work: Work, delivered: Pick<Delivered, "stored" | "invalid">) => Promise<Delivered["invalid"]>;
  /** Who is sent to in the place of those of these who could not be. */
  insteadOf?: (work: Work, stored: readonly DeliveryRow[]) => Promise<Instead[]>;
};

/** The usual steps, which a strategy may take others for. */
export type Steps = { turn: Turn; send: SendChunks; audience: AudienceDeps };

/** The work with whom it is sent to, and what is stored of those who are not. */
export type Recipients = { work: Work; others: DeliveryRow[] };

/** Chooses how a message is sent. */
export type StrategyOf = (message: MessageRow) => Strategy;

/** How a notification is sent: to the subscriptions of its audience, over their own addresses, in no order. */
export const usualStrategy = (
  audienceOf: Strategy["audienceOf"],
  onePerUser: Required<Pick<Strategy, "recipientsOf" | "insteadOf">>,
): Strategy => ({
  audienceOf,
  turn: ({ message, app, lease }, { turn }) => turn(message, app, lease),
  send: (batch, lease, send) => send(batch, lease),
  after: async (_work, { invalid }) => invalid,
  ...onePerUser,
});

export type DeliverByStrategyDeps = {
  strategyOf: StrategyOf;
  deliver: Deliver;
  /** Stores what is not sent; gives the ids that were stored before. */
  record: (rows: readonly DeliveryRow[]) => Promise<Set<string>>;
};

/** Delivers to those whom the strategy of a message names, and stores what becomes of the others. */
export const deliverByStrategy =
  ({ strategyOf, deliver, record }: DeliverByStrategyDeps): Deliver =>
  async (given, lease) => {
    const strategy = strategyOf(given.message);
    const { work, others } = await strategy.recipientsOf(given);
    const known = others.length === 0 ? new Set<string>() : await record(others);
    const delivered = await deliver(work, lease);
    const stored = [...delivered.stored, ...others];
    const invalid = await strategy.after(given, { stored, invalid: delivered.invalid });
    const fresh = [...delivered.fresh, ...others.filter(({ _id }) => !known.has(_id))];
    const instead = (await strategy.insteadOf?.(given, stored)) ?? [];
    return { ...delivered, stored, fresh, invalid, instead };
  };
