import { expect } from "chai";
import type { ApnsPush } from "#core/channels/ios-push/push.ts";
import { renderApns } from "#core/channels/ios-push/render.ts";
import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Recipient } from "#core/domain/messages/outcome.ts";
import { startApns } from "../../../dev/simulators/apns.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { makeCredentials } from "../../../dev/simulators/kit/credentials.ts";
import { apns } from "../../../dispatcher/channels/ios-push/apns.ts";
import { apnsTokens } from "../../../dispatcher/channels/ios-push/apns-tokens.ts";
import { http2Pool } from "../../../dispatcher/net/http2/pool.ts";
import { everyPushMember } from "../../support/api/push-members.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { providerSuite } from "./suite.ts";

const { tls, apns: keys } = testCredentials();

const provide = (simulator: Simulator, timeoutMs?: number, signer = keys) =>
  apns({
    account: { ...signer, bundleId: "com.example.app" },
    baseUrl: simulator.url,
    open: (options) => http2Pool({ ca: tls.cert, ...options }),
    tokens: apnsTokens(systemClock),
    clock: systemClock,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });

const render = (collapseId: string): ApnsPush =>
  renderApns({
    messageId: derivedId("message", "suite"),
    content: everyPushMember,
    options: { collapse_id: collapseId },
    language: null,
    ttlSeconds: 3600,
  });

const recipient = (n: number): Recipient => ({
  deliveryId: derivedId("delivery", String(n)),
  subscriptionId: derivedId("subscription", String(n)),
  address: (n + 1).toString(16).padStart(64, "0"),
});

providerSuite<ApnsPush>({
  name: "APNs",
  start: async (sendTimeoutMs) => {
    const simulator = await startApns({ port: 0, tls, keys: [keys] });
    return {
      simulator,
      provider: provide(simulator, sendTimeoutMs),
      refused: provide(simulator, sendTimeoutMs, makeCredentials().apns),
      push: render("suite"),
      recipient,
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

describe("a push to APNs", () => {
  it("that is larger than a frame can never be sent, and is not tried again", async () => {
    const simulator = await startApns({ port: 0, tls, keys: [keys] });
    const provider = provide(simulator, 20_000);
    const { json, ...push } = render("large");
    const large = { ...push, json: { ...json, after: json.after + " ".repeat(17_000) } };
    const outcome = await provider.send(large, recipient(1), new AbortController().signal);
    expect(outcome).to.include({ kind: "payload_error", code: "PAYLOAD_TOO_LARGE" });
    expect(simulator.log.counts().received).to.equal(0);
    await provider.close();
    await simulator.stop();
  });

  it("arrives whatever its collapse id, and pushes of one collapse id have the same", async () => {
    const simulator = await startApns({ port: 0, tls, keys: [keys] });
    const provider = provide(simulator, 20_000);
    const ids = ["order 7", "заказ 7", "é".repeat(64), "日本語", "a\r\nb"];
    for (const [n, id] of [...ids, ...ids].entries()) {
      const outcome = await provider.send(render(id), recipient(n), new AbortController().signal);
      expect(outcome.kind, id).to.equal("sent");
    }
    const arrived = simulator.log.page().map(({ headers }) => headers["apns-collapse-id"]);
    expect(new Set(arrived).size).to.equal(ids.length);
    expect(arrived.slice(0, ids.length)).to.deep.equal(arrived.slice(ids.length));
    expect(arrived[0]).to.equal("order 7");
    await provider.close();
    await simulator.stop();
  });
});
