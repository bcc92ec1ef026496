import { type HmsPush, renderHms } from "#core/channels/hms-push/render.ts";
import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import { startHms } from "../../../dev/simulators/hms.ts";
import { makeCredentials } from "../../../dev/simulators/kit/credentials.ts";
import { hms } from "../../../dispatcher/channels/hms-push/hms.ts";
import { type Http2Pool, http2Pool } from "../../../dispatcher/net/http2/pool.ts";
import { everyPushMember } from "../../support/api/push-members.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { until } from "../../support/until.ts";
import { providerSuite } from "./suite.ts";

const { tls, hms: account } = testCredentials();

const recipient = (n: number) => ({
  deliveryId: derivedId("delivery", String(n)),
  subscriptionId: derivedId("subscription", String(n)),
  address: `device-${n}-${"x".repeat(100)}`,
});

providerSuite<HmsPush>({
  name: "Push Kit",
  start: async (sendTimeoutMs) => {
    const simulator = await startHms({ port: 0, tls, account });
    const pools: Http2Pool[] = [];
    const provide = (of = account) =>
      hms({
        account: { ...of, hasReceipts: false },
        urls: { push: simulator.url, oauth: simulator.url },
        open: (options) => {
          const pool = http2Pool({ ca: tls.cert, ...options });
          pools.push(pool);
          return pool;
        },
        clock: systemClock,
        timeoutMs: sendTimeoutMs,
      });
    const provider = provide();
    const rendering = {
      messageId: derivedId("message", "suite"),
      content: everyPushMember,
      options: { collapse_id: "suite" },
      language: null,
      ttlSeconds: 3600,
    };
    const push = renderHms(rendering, "com.example.shop.Main");
    // The suite is about pushes: the access token is there before its faults begin.
    await provider.send(push, recipient(999_999), new AbortController().signal);
    simulator.log.clear();
    return {
      simulator,
      provider,
      refused: provide(makeCredentials().hms),
      push,
      recipient,
      connectionsLost: () => until(() => pools.every((pool) => pool.stats().connections === 0)),
      answers: [
        { answer: { status: 200, reason: "80100000" }, kind: "token_invalid" },
        { answer: { status: 200, reason: "80300007" }, kind: "token_invalid" },
        { answer: { status: 400, reason: "80100003" }, kind: "payload_error" },
        { answer: { status: 400, reason: "80100016" }, kind: "payload_error" },
        { answer: { status: 400, reason: "80300008" }, kind: "payload_error" },
        { answer: { status: 401, reason: "80200001" }, kind: "config_error" },
        { answer: { status: 200, reason: "80300002" }, kind: "config_error" },
        { answer: { status: 503, reason: "", retry_after_seconds: 7 }, kind: "retry_at" },
        { answer: { status: 500, reason: "81000001" }, kind: "retry_at" },
      ],
    };
  },
});
