import { maskAddress } from "#core/channels/addresses.ts";
import { mayFailForNow } from "#core/channels/refusals.ts";
import { ulid } from "#core/domain/ids.ts";
import type { Outcome, Refusal } from "#core/domain/messages/outcome.ts";
import { endOf } from "#core/domain/messages/receipts.ts";
import { phoneCountry } from "#core/domain/people/phone-country.ts";
import { isPhone } from "#core/schema/vocabulary/channels.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { type ChunkRow, type Tried, triesBefore } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SuppressionReason } from "../gates/gate.ts";

/** A recipient's result: a delivery that is final, or an instant at which to try again. */
export type Result = { kind: "final"; row: DeliveryRow } | { kind: "again"; at: Date; again: Left };

/** What is known of one that is tried again. */
type Left = { mayHaveArrived: boolean; tried: Tried };

export type Attempt = {
  /** See {@link deliveryIdOf}. */
  deliveryId: string;
  chunk: ChunkRow;
  subscription: Reached;
  provider: string;
  now: Date;
  /** End of the message's ttl for this chunk. */
  expiresAt: Date;
  /** Whether a repeat replaces it, so that it is sent again when its answer was lost. */
  isReplaceable: boolean;
  /** What is said is not kept, so that it cannot be sent again. */
  isRedacted?: boolean | undefined;
  /** Of a message that is part of a campaign. */
  campaignId?: string | undefined;
  /** What the delivery says of its message. */
  message?: Pick<MessageRow, "source" | "template_id" | "category" | "labels" | "segment_ids" | "conversation_id">;
  /** Of a live activity: as callers name it. */
  activityId?: string | undefined;
  /** Of a message with variants: the one that they get. */
  variantId?: string | undefined;
};

/** Turns a provider's outcome into what is stored, or into a retry inside the ttl. */
export const resultOf = (outcome: Outcome, attempt: Attempt): Result => {
  const { now, expiresAt, chunk } = attempt;
  switch (outcome.kind) {
    case "sent":
      return final(attempt, { ...taken(attempt), ...accepted(outcome) });
    case "uncertain":
      if (attempt.isReplaceable && triesBefore(chunk) < mostRepeats && now < expiresAt)
        return { kind: "again", at: now, again: { mayHaveArrived: true, tried: triedIn(attempt, outcome.reason) } };
      return { kind: "final", row: uncertain(attempt, outcome.reason) };
    case "token_invalid":
      return final(attempt, {
        ...refusal(outcome),
        status: "failed",
        failed_at: now,
        gone_since: outcome.since ?? now,
      });
    case "opted_out":
      return final(attempt, { ...refusal(outcome), status: "failed", failed_at: now });
    case "payload_error":
      return final(attempt, {
        status: endOf(outcome.code),
        failed_at: now,
        ...refusal(outcome),
      });
    case "config_error":
      return final(attempt, { status: "errored", failed_at: now, ...refusal(outcome) });
    case "retry_at":
      if (outcome.at < expiresAt) return againAt(outcome, attempt);
      if (chunk.may_have_arrived) return { kind: "final", row: uncertain(attempt, lostEarlier) };
      return final(attempt, { ...refusal(outcome), status: "expired", expired_at: now, error_code: "EXPIRED" });
  }
};

const againAt = (outcome: Extract<Outcome, { kind: "retry_at" }>, attempt: Attempt): Result => {
  const { may_have_arrived: mayHaveArrived } = attempt.chunk;
  const again = { mayHaveArrived, tried: triedIn(attempt, outcome.reason, outcome) };
  return { kind: "again", at: outcome.at, again };
};

const triedIn = ({ now, provider }: Attempt, answer: string, refused?: Refusal): Tried => ({
  at: now,
  provider,
  code: refused?.code ?? null,
  provider_code: refused?.providerCode ?? null,
  answer,
});

/** Of a push whose answers are all lost: each may be heard. With the pauses of retries they take three quarters of an hour. */
const mostRepeats = 10;

/** A recipient that is not attempted, or not again, on purpose, with what was `said` of it; uncertain when an earlier attempt may have reached them. */
export const suppress = (attempt: Attempt, reason: SuppressionReason, said = ""): DeliveryRow =>
  unattempted(attempt, {
    status: "suppressed",
    suppression_reason: reason,
    ...(said !== "" && { error_message: said }),
    ...(reason === "superseded" && { error_code: "SUPERSEDED" as const }),
  });

/** A recipient whose ttl passed before it could be attempted again; uncertain like that. */
export const expire = (attempt: Attempt): DeliveryRow =>
  unattempted(attempt, {
    status: "expired",
    error_code: "EXPIRED",
    error_message: "the ttl passed before it could be sent",
    expired_at: attempt.now,
  });

/** A recipient that is waited for: what is sent to them, or that nothing was, replaces this. */
export const schedule = (attempt: Attempt, until: Date): DeliveryRow => ({
  ...common(attempt),
  status: "scheduled",
  scheduled_for: until,
  attempts: 0,
});

const unattempted = (attempt: Attempt, result: Partial<DeliveryRow> & Pick<DeliveryRow, "status">): DeliveryRow => {
  const { may_have_arrived: mayHaveArrived } = attempt.chunk;
  const attempts = triesBefore(attempt.chunk);
  return mayHaveArrived
    ? { ...uncertain(attempt, lostEarlier), attempts }
    : { ...common(attempt), ...result, attempts };
};

/** The delivery's id, known before it is sent: providers get it as their idempotency or message id. */
export { deliveryIdOf } from "#core/storage/messages/deliveries.ts";

const final = (attempt: Attempt, result: Partial<DeliveryRow> & Pick<DeliveryRow, "status">): Result => ({
  kind: "final",
  row: { ...attempted(attempt), ...result },
});

const lostEarlier = "the answer to an earlier attempt was lost";

const uncertain = (attempt: Attempt, reason: string): DeliveryRow => ({
  ...attempted(attempt),
  ...taken(attempt),
  uncertain: true,
  error_message: reason,
});

const taken = ({ now, chunk, expiresAt, isRedacted }: Attempt) => ({
  status: "sent" as const,
  sent_at: now,
  ...(mayFailForNow(chunk.channel) && isRedacted !== true && { resend_until: expiresAt }),
});

const attempted = (attempt: Attempt) => ({
  ...common(attempt),
  provider: attempt.provider,
  attempts: triesBefore(attempt.chunk) + 1,
});

const common = ({ deliveryId, chunk, subscription, now, activityId, variantId, campaignId, message }: Attempt) => ({
  _id: deliveryId,
  message_id: chunk.message_id,
  tenant_id: chunk.tenant_id,
  app_id: chunk.app_id,
  subscription_id: subscription._id,
  user_id: subscription.user_id,
  ...(subscription.external_id === null ? {} : { external_id: subscription.external_id }),
  ...(campaignId === undefined ? {} : { campaign_id: campaignId }),
  ...(message && of(message)),
  ...(activityId === undefined ? {} : { activity_id: activityId }),
  ...(chunk.tried && { tries: chunk.tried }),
  ...(variantId === undefined ? {} : { variant_id: variantId }),
  ...(chunk.timing && { timing: chunk.timing }),
  ...(chunk.fallback && { fallback_of: chunk.fallback.of[subscription._id] ?? "" }),
  ...(chunk.zone_unknown && { time_zone_source: "app_default" as const }),
  channel: chunk.channel,
  ...(isPhone(chunk.channel) && inCountry(subscription.token)),
  address_masked: maskAddress(chunk.channel, subscription.token),
  position: ulid(now),
  created_at: now,
  updated_at: now,
});

const inCountry = (number: string) => {
  const country = phoneCountry(number);
  return country === null ? {} : { country };
};

const of = ({
  source,
  template_id: template,
  category,
  labels,
  segment_ids: segments = [],
  conversation_id: conversation,
}: NonNullable<Attempt["message"]>) => ({
  ...(conversation === undefined ? {} : { conversation_id: conversation }),
  ...(source === "api" ? {} : { source }),
  ...(template === undefined ? {} : { template_id: template }),
  ...(category === null ? {} : { category }),
  ...(labels.length === 0 ? {} : { labels }),
  ...(segments.length === 0 ? {} : { segment_ids: segments }),
});

const accepted = ({ providerId, segments }: Extract<Outcome, { kind: "sent" }>) => ({
  ...(providerId === null ? {} : { provider_message_id: providerId }),
  ...(segments === undefined ? {} : { sms_segments: segments }),
});

const refusal = ({ code, providerCode, reason }: Refusal) => ({
  error_code: code,
  error_message: reason,
  ...(providerCode === null ? {} : { provider_code: providerCode }),
  ...bounceOf(code),
});

const bounceOf = (code: Refusal["code"]): Pick<DeliveryRow, "bounce_type"> => {
  if (code === "HARD_BOUNCE") return { bounce_type: "hard" };
  return code === "SOFT_BOUNCE" ? { bounce_type: "soft" } : {};
};
