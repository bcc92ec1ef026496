/** Why a delivery did not reach its recipient. Source: docs/reference/messages.md#error-codes. */
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
