import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import { type ApnsPush, renderApns } from "#core/domain/render/apns.ts";
import { startApns } from "../../../dev/simulators/apns.ts";
import { makeCredentials } from "../../../dev/simulators/credentials.ts";
import { apns } from "../../../dispatcher/providers/apns.ts";
import { apnsTokens } from "../../../dispatcher/providers/apns-tokens.ts";
import { http2Pool } from "../../../dispatcher/providers/http2-pool.ts";
import { providerSuite } from "./suite.ts";

const { tls, apns: keys } = makeCredentials();

providerSuite<ApnsPush>({
  name: "APNs",
  start: async (sendTimeoutMs) => {
    const simulator = await startApns({ port: 0, tls, keys: [keys] });
    return {
      simulator,
      provider: apns({
        account: { ...keys, bundleId: "com.example.app" },
        baseUrl: simulator.url,
        open: (options) => http2Pool({ ca: tls.cert, ...options }),
        tokens: apnsTokens(systemClock),
        clock: systemClock,
        timeoutMs: sendTimeoutMs,
      }),
      push: renderApns({
        messageId: derivedId("message", "suite"),
        content: { contents: { en: "hello" } },
        options: { collapse_id: "suite" },
        language: null,
        ttlSeconds: 3600,
      }),
      recipient: (n) => ({
        deliveryId: derivedId("delivery", String(n)),
        subscriptionId: derivedId("subscription", String(n)),
        address: (n + 1).toString(16).padStart(64, "0"),
      }),
      answers: [
        { answer: { status: 410, reason: "Unregistered" }, kind: "token_invalid" },
        { answer: { status: 400, reason: "BadDeviceToken" }, kind: "token_invalid" },
        { answer: { status: 403, reason: "InvalidProviderToken" }, kind: "config_error" },
        { answer: { status: 413, reason: "PayloadTooLarge" }, kind: "payload_error" },
        { answer: { status: 429, reason: "TooManyRequests" }, kind: "retry_at" },
        { answer: { status: 503, reason: "ServiceUnavailable" }, kind: "retry_at" },
      ],
    };
  },
});
