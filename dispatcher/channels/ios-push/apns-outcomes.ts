import type { Outcome } from "#core/domain/messages/outcome.ts";
import { meanings, type OutcomeTable, outcomeOf } from "../kit/outcomes.ts";

/** What APNs answered. */
export type ApnsReply = { status: number; body: string; retryAfter?: string | undefined };

const { tokenInvalid, tokenGone, setUp, rejected, tooLarge, limited, unavailable } = meanings;
/** Every documented reason, then statuses with a reason that is not documented. */
export const apnsTable: OutcomeTable = {
  sources: [
    "https://developer.apple.com/documentation/usernotifications/sending-channel-management-requests-to-apns",
    "https://developer.apple.com/documentation/usernotifications/sending-broadcast-push-notification-requests-to-apns",
    "https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns", // "Handling notification responses from APNs"
  ],
  rows: [
    { on: "BadChannelId", ...rejected },
    { on: "BadCollapseId", ...rejected },
    { on: "BadDeviceToken", ...tokenInvalid }, // malformed, or of the other environment
    { on: "BadExpirationDate", ...rejected },
    { on: "BadMessageId", ...rejected },
    { on: "BadPriority", ...rejected },
    { on: "BadTopic", ...setUp },
    { on: "CannotCreateChannelConfig", ...rejected }, // the app has 10,000 channels
    { on: "ChannelNotRegistered", ...tokenGone },
    { on: "DeviceTokenNotForTopic", ...tokenInvalid },
    { on: "DuplicateHeaders", ...rejected },
    { on: "IdleTimeout", ...unavailable },
    { on: "InvalidPushType", ...rejected },
    { on: "MissingDeviceToken", ...tokenInvalid },
    { on: "MissingTopic", ...setUp },
    { on: "PayloadEmpty", ...rejected },
    { on: "TopicDisallowed", ...setUp },
    { on: "BadCertificate", ...setUp },
    { on: "BadCertificateEnvironment", ...setUp },
    { on: "BadEnvironmentKeyIdInToken", ...setUp },
    { on: "ExpiredProviderToken", ...setUp }, // after a new token was tried: this machine's clock is wrong
    { on: "Forbidden", ...setUp },
    { on: "InvalidProviderToken", ...setUp },
    { on: "MissingProviderToken", ...setUp },
    { on: "UnrelatedKeyIdInToken", ...setUp },
    { on: "BadPath", ...tokenInvalid }, // the token is the only part of the path that varies
    { on: "MethodNotAllowed", ...rejected },
    { on: "ExpiredToken", ...tokenGone },
    { on: "Unregistered", ...tokenGone },
    { on: "PayloadTooLarge", ...tooLarge },
    { on: "TooManyProviderTokenUpdates", ...limited },
    { on: "TooManyRequests", ...limited },
    // Apple: "After 15 minutes, you can retry" 5xx, and "may employ a back-off technique". Most such answers come from
    // one host that restarts, so the first retry may come soon; the pauses between retries grow to 30 minutes.
    { on: "InternalServerError", ...unavailable },
    { on: "ServiceUnavailable", ...unavailable },
    { on: "Shutdown", ...unavailable },
    { on: /^403/, ...setUp },
    { on: /^410/, ...tokenGone },
    { on: /^413/, ...tooLarge },
    { on: /^429/, ...limited },
    { on: /^5/, ...unavailable },
  ],
  otherwise: rejected,
  refused: "APNs refused the push",
};

/** What an answer of APNs to a push means; `apnsId` is that of the request. */
export const apnsOutcome = ({ status, body, retryAfter }: ApnsReply, apnsId: string, now: Date): Outcome => {
  if (status === 200) return { kind: "sent", providerId: apnsId };
  const { reason, timestamp } = parse(body);
  const answer = { code: `${status} ${reason}`.trim(), word: reason, retryAfter, since: timestamp };
  return outcomeOf(apnsTable, answer, now);
};

/** The reason, and when APNs found the token gone (410 only; ms since 1970). */
const parse = (body: string): { reason: string; timestamp: Date | null } => {
  try {
    const { reason, timestamp } = JSON.parse(body) as { reason?: unknown; timestamp?: unknown }; // both are checked here
    return {
      reason: typeof reason === "string" ? reason.slice(0, 100) : "",
      timestamp: typeof timestamp === "number" ? new Date(timestamp) : null,
    };
  } catch {
    return { reason: "", timestamp: null };
  }
};
