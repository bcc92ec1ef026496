import type { Random } from "#core/domain/backoff.ts";
import type { SendableChannel } from "#core/domain/channels.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Outcome, Recipient } from "#core/domain/outcome.ts";
import { mapBounded } from "#core/runtime/bounded.ts";
import type { AppRow } from "#core/storage/apps.ts";
import type { ChunkRow } from "#core/storage/chunks.ts";
import type { DeliveryRow } from "#core/storage/deliveries.ts";
import type { MessageRow } from "#core/storage/messages.ts";
import type { SubscriptionRow } from "#core/storage/subscriptions.ts";
import { type Attempt, conclude, deliveryIdOf, expire, type SuppressionReason, suppress } from "./conclude.ts";
import type { Recorded } from "./record.ts";
import { type Again, nextTry } from "./retry.ts";

/** One account of one app and channel, ready to send. */
export type Sender = {
  name: string;
  /** The content rendered for one language, with what is left of its ttl; returns the call that sends it. */
  prepare: (message: MessageRow, language: string | null, ttlSeconds: number) => Send;
};

export type Send = (to: Recipient, signal: AbortSignal) => Promise<Outcome>;

export type DeliverDeps = {
  load: (ids: readonly string[]) => Promise<SubscriptionRow[]>;
  existing: (ids: readonly string[]) => Promise<DeliveryRow[]>;
  record: (row: DeliveryRow) => Promise<Recorded>;
  sender: (app: AppRow, channel: SendableChannel) => Promise<Sender>;
  /** Runs one recipient inside the window of unsaved ones. */
  slot: (account: string, run: () => Promise<void>) => Promise<void>;
  clock: Clock;
  random: Random;
};

/** A piece of work: a chunk, the message that it is a part of, and the app that sends it. */
export type Work = { chunk: ChunkRow; message: MessageRow; app: AppRow };

/**
 * What a run left behind: every delivery that is stored, those among them that this run stored, whom to try again,
 * whose address is gone, and whether it was halted before it reached everyone.
 */
export type Delivered = {
  stored: DeliveryRow[];
  fresh: DeliveryRow[];
  again: Again[];
  invalid: SubscriptionRow[];
  halted: boolean;
};

/** Recipients of one chunk under way at once: two chunks fill the window, and a small message finds room. */
const chunkConcurrency = 64;
const sendTimeoutMs = 60_000; // longer than any provider's own deadline: a last resort
const defaultTtlSeconds = 259_200; // 3 days. Source: decisions 7.7

/**
 * Sends a chunk to each recipient that has no delivery yet, and stores each outcome as it comes. When `halt` aborts no
 * further recipient is begun, and what is under way is finished and stored: a send is never cut off.
 */
export const deliver =
  (deps: DeliverDeps) =>
  async ({ chunk, message, app }: Work, halt: AbortSignal): Promise<Delivered> => {
    const delivered = await startingFrom(deps, chunk);
    const done = new Set(delivered.stored.map((row) => row.subscription_id));
    const subscriptions = (await deps.load(chunk.recipients)).filter((row) => !done.has(row._id));
    const sender = await deps.sender(app, chunk.channel);
    const expiresAt = expiry(chunk, message, deps.clock.now());
    const ttlSeconds = Math.max(0, Math.floor((expiresAt.getTime() - deps.clock.now().getTime()) / 1000));
    const send = perLanguage((language) => sender.prepare(message, language, ttlSeconds));

    const one = async (subscription: SubscriptionRow): Promise<void> => {
      if (halt.aborted) {
        delivered.halted = true;
        return;
      }
      const attempt = (): Attempt => ({ chunk, subscription, provider: sender.name, now: deps.clock.now(), expiresAt });
      const store = async (row: DeliveryRow): Promise<void> => {
        if ((await deps.record(row)) === "new") delivered.fresh.push(row);
        delivered.stored.push(row);
      };
      const reason = gate(subscription, message);
      if (reason !== null) return store(suppress(attempt(), reason));
      if (deps.clock.now() >= expiresAt) return store(expire(attempt()));
      const attemptAndStore = async (): Promise<void> => {
        const outcome = await send(subscription, message._id);
        const conclusion = conclude(outcome, attempt());
        if (outcome.kind === "token_invalid") delivered.invalid.push(subscription);
        if (conclusion.kind === "final") return store(conclusion.row);
        const at = nextTry(conclusion.at, chunk.attempt, deps.clock.now(), deps.random);
        delivered.again.push({ subscriptionId: subscription._id, at });
      };
      return deps.slot(`${app._id}/${chunk.channel}`, attemptAndStore);
    };
    await mapBounded(subscriptions, chunkConcurrency, one);
    return delivered;
  };

/** What an earlier, interrupted run of the same recipients already stored. */
const startingFrom = async (deps: DeliverDeps, chunk: ChunkRow): Promise<Delivered> => ({
  stored: await deps.existing(chunk.recipients.map((id) => deliveryIdOf(chunk.message_id, id))),
  fresh: [],
  again: [],
  invalid: [],
  halted: false,
});

type SendOne = (to: SubscriptionRow, messageId: string) => Promise<Outcome>;

/** Renders once for each language that occurs in the chunk. */
const perLanguage = (prepare: (language: string | null) => Send): SendOne => {
  const prepared = new Map<string | null, Send>();
  return (to, messageId) => {
    const send = prepared.get(to.language) ?? prepare(to.language);
    prepared.set(to.language, send);
    return send(recipientOf(to, messageId), AbortSignal.timeout(sendTimeoutMs));
  };
};

const recipientOf = (to: SubscriptionRow, messageId: string): Recipient => ({
  deliveryId: deliveryIdOf(messageId, to._id),
  subscriptionId: to._id,
  address: to.token,
  ...(to.web === null ? {} : { webKeys: to.web }),
});

/** State of the subscription at the moment of sending: it may have changed since the audience was read. */
const gate = (subscription: SubscriptionRow, { target, options }: MessageRow): SuppressionReason | null => {
  if (subscription.status === "invalid") return "invalid_subscription";
  const mayReach = options.include_unsubscribed === true && subscription.channel === "email";
  if (subscription.status === "unsubscribed" && !mayReach) return "unsubscribed";
  if (target.test_devices_only === true && !subscription.test_device) return "not_test_device";
  return null;
};

const expiry = (chunk: ChunkRow, { options }: MessageRow, now: Date): Date =>
  new Date((chunk.dispatched_at ?? now).getTime() + (options.ttl ?? defaultTtlSeconds) * 1000);
