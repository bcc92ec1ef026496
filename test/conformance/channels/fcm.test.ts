import { expect } from "chai";
import { type FcmPush, renderFcm } from "#core/channels/android-push/render.ts";
import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import { startFcm } from "../../../dev/simulators/fcm.ts";
import { makeCredentials } from "../../../dev/simulators/kit/credentials.ts";
import { fcm } from "../../../dispatcher/channels/android-push/fcm.ts";
import { type Http2Pool, http2Pool } from "../../../dispatcher/net/http2/pool.ts";
import { everyPushMember } from "../../support/api/push-members.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { until } from "../../support/until.ts";
import { providerSuite } from "./suite.ts";

const { tls, fcm: account } = testCredentials();

const recipient = (n: number) => ({
  deliveryId: derivedId("delivery", String(n)),
  subscriptionId: derivedId("subscription", String(n)),
  address: `device-${n}:APA91b${"x".repeat(100)}`,
});

providerSuite<FcmPush>({
  name: "FCM",
  start: async (sendTimeoutMs) => {
    const simulator = await startFcm({ port: 0, tls, accounts: [account] });
    const pools: Http2Pool[] = [];
    const provide = (of = account) =>
      fcm({
        account: { ...of, tokenUri: `${simulator.url}/token` },
        baseUrl: simulator.url,
        open: (options) => {
          pools.push(http2Pool({ ca: tls.cert, ...options }));
          return pools.at(-1) ?? expect.fail();
        },
        clock: systemClock,
        timeoutMs: sendTimeoutMs,
      });
    const provider = provide();
    const push = renderFcm({
      messageId: derivedId("message", "suite"),
      content: everyPushMember,
      options: { collapse_id: "suite" },
      language: null,
      ttlSeconds: 3600,
    });
    // The suite is about pushes: the access token is there before its faults begin.
    await provider.send(push, recipient(999_999), new AbortController().signal);
    simulator.log.clear();
    return {
      simulator,
      provider,
      refused: provide(makeCredentials().fcm),
      push,
      recipient,
      connectionsLost: () => until(() => pools.every((pool) => pool.stats().connections === 0)),
      answers: [
        { answer: { status: 404, reason: "UNREGISTERED" }, kind: "token_invalid" },
        { answer: { status: 403, reason: "SENDER_ID_MISMATCH" }, kind: "config_error" },
        { answer: { status: 401, reason: "THIRD_PARTY_AUTH_ERROR" }, kind: "config_error" },
        { answer: { status: 400, reason: "INVALID_ARGUMENT" }, kind: "payload_error" },
        { answer: { status: 429, reason: "QUOTA_EXCEEDED" }, kind: "retry_at" },
        { answer: { status: 503, reason: "UNAVAILABLE", retry_after_seconds: 7 }, kind: "retry_at" },
        { answer: { status: 500, reason: "INTERNAL" }, kind: "retry_at" },
      ],
    };
  },
});
