import { maskAddress } from "#core/channels/addresses.ts";
import { derivedId, ulid } from "#core/domain/ids.ts";
import type { Outcome, Refusal } from "#core/domain/messages/outcome.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { SuppressionReason } from "../gates/gate.ts";

/** A recipient's result: a delivery that is final, or an instant at which to try again. */
export type Result = { kind: "final"; row: DeliveryRow } | { kind: "again"; at: Date };

export type Attempt = {
  /** See {@link deliveryIdOf}. */
  deliveryId: string;
  chunk: ChunkRow;
  subscription: Reached;
  provider: string;
  now: Date;
  /** End of the message's ttl for this chunk. */
  expiresAt: Date;
};

/** Turns a provider's outcome into what is stored, or into a retry inside the ttl. */
export const resultOf = (outcome: Outcome, attempt: Attempt): Result => {
  const { now } = attempt;
  switch (outcome.kind) {
    case "sent":
      return final(attempt, { status: "sent", sent_at: now, ...providerId(outcome.providerId) });
    case "uncertain":
      return final(attempt, { status: "sent", sent_at: now, uncertain: true, error_message: outcome.reason });
    case "token_invalid":
      return final(attempt, {
        ...refusal(outcome),
        status: "failed",
        failed_at: now,
        gone_since: outcome.since ?? now,
      });
    case "config_error":
    case "payload_error":
      return final(attempt, { status: "errored", failed_at: now, ...refusal(outcome) });
    case "retry_at":
      return outcome.at < attempt.expiresAt
        ? { kind: "again", at: outcome.at }
        : final(attempt, { ...refusal(outcome), status: "expired", expired_at: now, error_code: "EXPIRED" });
  }
};

/** A recipient that is not attempted, on purpose. */
export const suppress = (attempt: Omit<Attempt, "provider">, reason: SuppressionReason): DeliveryRow => ({
  ...common(attempt),
  status: "suppressed",
  suppression_reason: reason,
  attempts: attempt.chunk.attempt,
});

/** A recipient whose ttl passed before it could be attempted again. */
export const expire = (attempt: Omit<Attempt, "provider">): DeliveryRow => ({
  ...common(attempt),
  status: "expired",
  error_code: "EXPIRED",
  error_message: "the ttl passed before it could be sent",
  expired_at: attempt.now,
  attempts: attempt.chunk.attempt,
});

/** The delivery's id, known before it is sent: providers get it as their idempotency or message id. */
export const deliveryIdOf = (messageId: string, subscriptionId: string): string =>
  derivedId("delivery", messageId, subscriptionId);

const final = (attempt: Attempt, result: Partial<DeliveryRow> & Pick<DeliveryRow, "status">): Result => ({
  kind: "final",
  row: { ...common(attempt), provider: attempt.provider, attempts: attempt.chunk.attempt + 1, ...result },
});

const common = ({ deliveryId, chunk, subscription, now }: Omit<Attempt, "provider">) => ({
  _id: deliveryId,
  message_id: chunk.message_id,
  tenant_id: chunk.tenant_id,
  app_id: chunk.app_id,
  subscription_id: subscription._id,
  user_id: subscription.user_id,
  ...(subscription.external_id === null ? {} : { external_id: subscription.external_id }),
  channel: chunk.channel,
  address_masked: maskAddress(chunk.channel, subscription.token),
  position: ulid(now),
  created_at: now,
  updated_at: now,
});

const providerId = (id: string | null) => (id === null ? {} : { provider_message_id: id });

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
