/** Why a delivery did not reach its recipient, in our own words. Source: docs/decisions (delivery error codes). */
export const deliveryErrorCodes = [
  "TOKEN_UNREGISTERED",
  "TOKEN_INVALID",
  "SENDER_MISMATCH",
  "PAYLOAD_TOO_LARGE",
  "PROVIDER_AUTH",
  "PROVIDER_RATE_LIMITED",
  "PROVIDER_UNAVAILABLE",
  "PROVIDER_REJECTED",
  "TEMPLATE_RENDER_FAILED",
  "RECIPIENT_INVALID",
  "CONTENT_BLOCKED",
  "MAILBOX_FULL",
  "HARD_BOUNCE",
  "SOFT_BOUNCE",
  "SPAM_REJECTED",
  "EXPIRED",
  "TIMEOUT",
  "SUPERSEDED",
  "INTERNAL",
] as const;

export type DeliveryErrorCode = (typeof deliveryErrorCodes)[number];

/** What a provider said, with its own code kept as it came. */
export type Refusal = { code: DeliveryErrorCode; providerCode: string | null; reason: string };

/**
 * What became of one send. Closed: every documented answer of every provider maps to one of these.
 * - `sent`: the provider accepted it.
 * - `token_invalid`: the address is gone; the subscription becomes invalid, unless it was registered after `since`.
 * - `retry_at`: may work later, not before `at`.
 * - `config_error`: credentials or set-up are wrong; every send of this app and channel will fail alike.
 * - `payload_error`: this content can never be accepted for this recipient.
 * - `uncertain`: the link broke before the answer came: it may have arrived, so it is not sent again.
 */
export type Outcome =
  | { kind: "sent"; providerId: string | null }
  | ({ kind: "token_invalid"; since?: Date } & Refusal)
  | ({ kind: "retry_at"; at: Date } & Refusal)
  | ({ kind: "config_error" } & Refusal)
  | ({ kind: "payload_error" } & Refusal)
  | { kind: "uncertain"; reason: string };

export type OutcomeKind = Outcome["kind"];

/** Whom one send goes to. `address` is the device token, push endpoint or mail address. */
export type Recipient = {
  deliveryId: string;
  subscriptionId: string;
  address: string;
  webKeys?: { p256dh: string; auth: string };
};

/** One provider account of one app and channel. `Push` is the rendered content, shared by all recipients of a language. */
export type Provider<Push> = {
  name: string;
  /** Never rejects for an answer of the provider or a broken link: those are outcomes. Rejects only when `signal` aborts. */
  send: (push: Push, to: Recipient, signal: AbortSignal) => Promise<Outcome>;
  /** Finishes what is under way (bounded by its own deadline), then closes its connections. */
  close: () => Promise<void>;
};
