import { expect } from "chai";
import { faultOf, type OutcomeKind } from "#core/domain/messages/outcome.ts";
import { type DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
import { apnsOutcome, apnsTable } from "../../../../../dispatcher/channels/ios-push/apns-outcomes.ts";

const now = new Date("2026-11-21T08:00:00Z");

/** Apple's table of statuses and reasons, each with what it must become. */
const documented: [number, string, OutcomeKind, DeliveryErrorCode][] = [
  [400, "BadChannelId", "payload_error", "PROVIDER_REJECTED"],
  [400, "CannotCreateChannelConfig", "payload_error", "PROVIDER_REJECTED"],
  [400, "ChannelNotRegistered", "token_invalid", "TOKEN_UNREGISTERED"],
  [400, "BadCollapseId", "payload_error", "PROVIDER_REJECTED"],
  [400, "BadDeviceToken", "token_invalid", "TOKEN_INVALID"],
  [400, "BadExpirationDate", "payload_error", "PROVIDER_REJECTED"],
  [400, "BadMessageId", "payload_error", "PROVIDER_REJECTED"],
  [400, "BadPriority", "payload_error", "PROVIDER_REJECTED"],
  [400, "BadTopic", "config_error", "PROVIDER_AUTH"],
  [400, "DeviceTokenNotForTopic", "token_invalid", "TOKEN_INVALID"],
  [400, "DuplicateHeaders", "payload_error", "PROVIDER_REJECTED"],
  [400, "IdleTimeout", "retry_at", "PROVIDER_UNAVAILABLE"],
  [400, "InvalidPushType", "payload_error", "PROVIDER_REJECTED"],
  [400, "MissingDeviceToken", "token_invalid", "TOKEN_INVALID"],
  [400, "MissingTopic", "config_error", "PROVIDER_AUTH"],
  [400, "PayloadEmpty", "payload_error", "PROVIDER_REJECTED"],
  [400, "TopicDisallowed", "config_error", "PROVIDER_AUTH"],
  [403, "BadCertificate", "config_error", "PROVIDER_AUTH"],
  [403, "BadCertificateEnvironment", "config_error", "PROVIDER_AUTH"],
  [403, "BadEnvironmentKeyIdInToken", "config_error", "PROVIDER_AUTH"],
  [403, "ExpiredProviderToken", "config_error", "PROVIDER_AUTH"],
  [403, "Forbidden", "config_error", "PROVIDER_AUTH"],
  [403, "InvalidProviderToken", "config_error", "PROVIDER_AUTH"],
  [403, "MissingProviderToken", "config_error", "PROVIDER_AUTH"],
  [403, "UnrelatedKeyIdInToken", "config_error", "PROVIDER_AUTH"],
  [404, "BadPath", "token_invalid", "TOKEN_INVALID"],
  [405, "MethodNotAllowed", "payload_error", "PROVIDER_REJECTED"],
  [410, "ExpiredToken", "token_invalid", "TOKEN_UNREGISTERED"],
  [410, "Unregistered", "token_invalid", "TOKEN_UNREGISTERED"],
  [413, "PayloadTooLarge", "payload_error", "PAYLOAD_TOO_LARGE"],
  [429, "TooManyProviderTokenUpdates", "retry_at", "PROVIDER_RATE_LIMITED"],
  [429, "TooManyRequests", "retry_at", "PROVIDER_RATE_LIMITED"],
  [500, "InternalServerError", "retry_at", "PROVIDER_UNAVAILABLE"],
  [503, "ServiceUnavailable", "retry_at", "PROVIDER_UNAVAILABLE"],
  [503, "Shutdown", "retry_at", "PROVIDER_UNAVAILABLE"],
];

const unknown: [number, OutcomeKind, DeliveryErrorCode][] = [
  [400, "payload_error", "PROVIDER_REJECTED"],
  [403, "config_error", "PROVIDER_AUTH"],
  [410, "token_invalid", "TOKEN_UNREGISTERED"],
  [413, "payload_error", "PAYLOAD_TOO_LARGE"],
  [429, "retry_at", "PROVIDER_RATE_LIMITED"],
  [502, "retry_at", "PROVIDER_UNAVAILABLE"],
];

const outcomeOf = (status: number, body: string, retryAfter?: string) =>
  apnsOutcome({ status, body, ...(retryAfter === undefined ? {} : { retryAfter }) }, "id-1", now);

const pauseSeconds = (status: number, reason: string, retryAfter?: string) => {
  const outcome = outcomeOf(status, JSON.stringify({ reason }), retryAfter);
  return outcome.kind === "retry_at" ? (outcome.at.getTime() - now.getTime()) / 1000 : null;
};

describe("apnsOutcome", () => {
  for (const [status, reason, kind, code] of documented)
    it(`takes ${status} ${reason} as ${kind}, ${code}`, () => {
      const outcome = outcomeOf(status, JSON.stringify({ reason }));
      expect(outcome).to.include({ kind, code, providerCode: `${status} ${reason}` });
      const isOfAll = kind === "config_error" || code === "PROVIDER_UNAVAILABLE";
      expect(faultOf(outcome)).to.equal(isOfAll ? "provider" : null);
    });

  it("has a rule for the documented reasons and no others", () => {
    expect(apnsTable.rows.flatMap(({ on }) => (typeof on === "string" ? on : [])).sort()).to.deep.equal(
      documented.map(([, reason]) => reason).sort(),
    );
  });

  for (const [status, kind, code] of unknown)
    it(`takes ${status} with an unknown or unreadable body as ${kind}`, () => {
      expect(outcomeOf(status, '{"reason":"NewReason"}')).to.include({ kind, code });
      expect(outcomeOf(status, "<html>")).to.include({ kind, code, providerCode: String(status) });
    });

  it("takes 200 as sent under the id of the request", () => {
    expect(outcomeOf(200, "")).to.deep.equal({ kind: "sent", providerId: "id-1" });
  });

  it("says since when a token is gone", () => {
    const outcome = outcomeOf(410, JSON.stringify({ reason: "Unregistered", timestamp: 1_790_000_000_000 }));
    expect(outcome).to.deep.include({ since: new Date(1_790_000_000_000) });
  });

  it("waits a minute for a device that got too many, ten seconds for a fault, and as long as APNs asks", () => {
    expect(pauseSeconds(429, "TooManyRequests")).to.equal(60);
    expect(pauseSeconds(503, "ServiceUnavailable")).to.equal(10);
    expect(pauseSeconds(503, "ServiceUnavailable", "120")).to.equal(120);
  });
});
