import { expect } from "chai";
import { renderApns } from "#core/channels/ios-push/render.ts";
import { type ApnsDeps, apns, apnsIdOf } from "../../../../../dispatcher/channels/ios-push/apns.ts";
import { apnsTokens } from "../../../../../dispatcher/channels/ios-push/apns-tokens.ts";
import type { TransportRequest, TransportResult } from "../../../../../dispatcher/net/transport.ts";
import { testCredentials } from "../../../../support/system/credentials.ts";

const { apns: keys } = testCredentials();
const never = new AbortController().signal;
const to = { deliveryId: "dlv_01JD6Q4Z0000000000000000A1", subscriptionId: "sub_1", address: "ab/c" };
const push = renderApns({
  messageId: "msg_1",
  content: { contents: { en: "x" } },
  options: {},
  language: null,
  ttlSeconds: 60,
});

/** A provider over a transport that answers with these results in turn, the last one again and again. */
const given = (
  results: TransportResult[],
  account: Partial<ApnsDeps["account"]> = {},
  baseUrl = "https://a.example",
) => {
  const requests: TransportRequest[] = [];
  let nowMs = Date.parse("2026-11-21T08:00:00Z");
  const clock = { now: () => new Date(nowMs) };
  const provider = apns({
    account: { ...keys, bundleId: "com.example.app", ...account },
    baseUrl,
    open: () => ({
      request: async (request) => {
        requests.push(request);
        return (results.length > 1 ? results.shift() : results[0]) ?? { kind: "not_sent", reason: "no result given" };
      },
      close: async () => {},
    }),
    tokens: apnsTokens(clock),
    clock,
  });
  return { provider, requests, pass: (ms: number) => (nowMs += ms) };
};
const answer = (status: number, reason?: string): TransportResult => ({
  kind: "answer",
  status,
  headers: {},
  body: reason === undefined ? "" : JSON.stringify({ reason }),
});

describe("apns", () => {
  it("asks as Apple documents it", async () => {
    const { provider, requests } = given([answer(200)]);
    expect(await provider.send(push, to, never)).to.deep.equal({ kind: "sent", providerId: apnsIdOf(to.deliveryId) });
    const [request] = requests;
    expect(request?.path).to.equal("/3/device/ab%2Fc");
    expect(request?.headers).to.include({
      "apns-id": apnsIdOf(to.deliveryId),
      "apns-topic": "com.example.app",
      "apns-push-type": "alert",
      "apns-priority": "10",
      "apns-expiration": String(Date.parse("2026-11-21T08:01:00Z") / 1000),
    });
    expect(request?.headers).not.to.have.property("apns-collapse-id");
    expect(request?.headers.authorization).to.match(/^bearer ey/);
  });

  it("names a delivery to APNs by the 128 bits of its own id", () => {
    expect(apnsIdOf("dlv_00000000000000000000000001")).to.equal("00000000-0000-0000-0000-000000000001");
    expect(apnsIdOf("dlv_7ZZZZZZZZZZZZZZZZZZZZZZZZZ")).to.equal("ffffffff-ffff-ffff-ffff-ffffffffffff");
    expect(apnsIdOf("dlv_014D2PF2DBSQQZXQ5TK1V58CGG")).to.equal("01234567-89ab-cdef-fedc-ba9876543210");
  });

  it("signs again once when the provider token has expired", async () => {
    const { provider, requests, pass } = given([answer(200), answer(403, "ExpiredProviderToken"), answer(200)]);
    await provider.send(push, to, never);
    pass(120_000);
    expect((await provider.send(push, to, never)).kind).to.equal("sent");
    expect(requests[2]?.headers.authorization).not.to.equal(requests[1]?.headers.authorization);
  });

  it("gives up as a set-up error when the new token is refused too", async () => {
    const { provider, requests, pass } = given([answer(200), answer(403, "ExpiredProviderToken")]);
    await provider.send(push, to, never);
    pass(120_000);
    expect((await provider.send(push, to, never)).kind).to.equal("config_error");
    expect(requests).to.have.length(3);
  });

  it("says that the account cannot sign, without a request and without the key", async () => {
    const { provider, requests } = given([answer(200)], { privateKeyPem: "secret words" });
    const outcome = await provider.send(push, to, never);
    expect(outcome).to.include({ kind: "config_error", code: "PROVIDER_AUTH" });
    expect(JSON.stringify(outcome)).not.to.contain("secret words");
    expect(requests).to.have.length(0);
  });

  it("sends only to https addresses, or to loopback", () => {
    expect(() => given([], {}, "http://push.example.com")).to.throw("must be https");
  });
});
