import { expect } from "chai";
import webPushLibrary from "web-push";
import { renderWebPush, type WebPushMessage, webPushBody } from "#core/channels/web-push/render.ts";
import type { Recipient } from "#core/domain/messages/outcome.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import { selfSigned } from "../../../dev/simulators/kit/certificate.ts";
import { startWebPush, type WebPushSimulator } from "../../../dev/simulators/web-push.ts";
import { webPush } from "../../../dispatcher/channels/web-push/web-push.ts";
import { guardedClient } from "../../../dispatcher/net/guarded/client.ts";
import { everyPushMember } from "../../support/api/push-members.ts";
import { providerSuite } from "./suite.ts";

const clock = { now: () => new Date() };
const tls = selfSigned();
const client = guardedClient({ guard: addressGuard({ allow: ["127.0.0.1"] }), ca: tls.cert });
const account = { subject: "mailto:ops@example.com", ...webPushLibrary.generateVAPIDKeys() };
const render = (content: Content): WebPushMessage =>
  renderWebPush({
    messageId: "msg_1",
    content,
    options: { collapse_id: "greeting" },
    language: "en",
    ttlSeconds: 600,
  });
const push = render({ headings: { en: "Hello" }, contents: { en: "You" } });

const recipients = (simulator: WebPushSimulator) => {
  const made = new Map<number, Recipient>();
  return (n: number): Recipient => {
    const known = made.get(n);
    if (known !== undefined) return known;
    const { endpoint, keys } = simulator.subscribe();
    const recipient = { deliveryId: `dlv_${n}`, subscriptionId: `sub_${n}`, address: endpoint, webKeys: keys };
    made.set(n, recipient);
    return recipient;
  };
};

/** A push whose payload, as the recipient dlv_1 gets it, has so many bytes. */
const sized = (bytes: number): WebPushMessage => {
  const payload = { ...push.payload, body: "" };
  const rest = bytes - webPushBody({ ...push, payload }, "dlv_1").length;
  return { ...push, payload: { ...payload, body: "x".repeat(rest) } };
};

after(() => client.close());

for (const isHttp2 of [true, false])
  providerSuite({
    name: `web push over ${isHttp2 ? "HTTP/2" : "HTTP/1.1"}`,
    start: async (sendTimeoutMs) => {
      const simulator = await startWebPush({ port: 0, tls, isHttp2 });
      return {
        provider: webPush({ account, client, clock, timeoutMs: sendTimeoutMs, connectTimeoutMs: sendTimeoutMs }),
        refused: webPush({ account: { ...account, privateKey: "AAAA" }, client, clock }),
        isAskedByCheck: false,
        simulator,
        push: render(everyPushMember),
        recipient: recipients(simulator),
        answers: [
          { answer: { status: 400, reason: "BadRequest" }, kind: "payload_error" },
          { answer: { status: 401, reason: "Unauthorized" }, kind: "config_error" },
          { answer: { status: 403, reason: "VapidPkHashMismatch" }, kind: "config_error" },
          { answer: { status: 404, reason: "NotFound" }, kind: "token_invalid" },
          { answer: { status: 410, reason: "Unregistered" }, kind: "token_invalid" },
          { answer: { status: 413, reason: "PayloadTooLarge" }, kind: "payload_error" },
          { answer: { status: 429, reason: "TooManyRequests", retry_after_seconds: 5 }, kind: "retry_at" },
          { answer: { status: 500, reason: "InternalServerError" }, kind: "retry_at" },
          { answer: { status: 503, reason: "ServiceUnavailable" }, kind: "retry_at" },
        ],
      };
    },
  });

describe("a web push", () => {
  let simulator: WebPushSimulator;
  const provider = webPush({ account, client, clock });
  const send = (to: Partial<Recipient> = {}) => {
    const { endpoint, keys } = simulator.subscribe();
    const recipient = { deliveryId: "dlv_1", subscriptionId: "sub_1", address: endpoint, webKeys: keys, ...to };
    return provider.send(push, recipient, AbortSignal.timeout(60_000));
  };

  before(async () => {
    simulator = await startWebPush({ port: 0, tls });
  });
  after(() => simulator.stop());

  it("is read by the browser, with the headers of its message", async () => {
    expect((await send()).kind).to.equal("sent");
    const [entry] = simulator.log.page().slice(-1);
    expect(JSON.parse(entry?.body ?? "")).to.deep.equal({
      message_id: "msg_1",
      delivery_id: "dlv_1",
      title: "Hello",
      body: "You",
      tag: "greeting",
    });
    expect(entry?.headers).to.include({ ttl: "600", urgency: "high", topic: "greeting" });
  });

  it("names the message of the push service as its provider's id", async () => {
    const outcome = await send();
    expect(outcome)
      .to.have.property("providerId")
      .that.matches(/^[0-9a-f-]{36}$/);
  });

  it("signs once for an origin", async () => {
    await send();
    await send();
    const [first, second] = simulator.log.page().slice(-2);
    expect(second?.headers["authorization"]).to.equal(first?.headers["authorization"]);
  });

  it("is refused by the push service when the private key does not belong to the public one", async () => {
    const mixed = { ...account, privateKey: webPushLibrary.generateVAPIDKeys().privateKey };
    const { endpoint, keys } = simulator.subscribe();
    const to = { deliveryId: "dlv_1", subscriptionId: "sub_1", address: endpoint, webKeys: keys };
    const outcome = await webPush({ account: mixed, client, clock }).send(push, to, AbortSignal.timeout(60_000));
    expect(outcome).to.include({ kind: "config_error", code: "PROVIDER_AUTH" });
  });

  const broken: { it: string; to: Partial<Recipient> }[] = [
    { it: "an endpoint in a private network", to: { address: "https://10.0.0.1/push" } },
    { it: "an endpoint over plain http", to: { address: "http://8.8.8.8/1" } },
    { it: "an endpoint that is no address", to: { address: "push" } },
    {
      it: "keys that are no point",
      to: { webKeys: { p256dh: Buffer.alloc(65, 4).toString("base64url"), auth: "A".repeat(22) } },
    },
    { it: "keys of another length", to: { webKeys: { p256dh: "AAAA", auth: "AAAA" } } },
  ];
  for (const { it: name, to } of broken) {
    it(`invalidates the subscription with ${name}, without a request`, async () => {
      const before = simulator.log.counts().received;
      expect(await send(to)).to.include({ kind: "token_invalid", code: "TOKEN_INVALID" });
      expect(simulator.log.counts().received).to.equal(before);
    });
  }

  it("of more than 3,993 bytes is refused here, one of exactly as many is delivered", async () => {
    const { endpoint, keys } = simulator.subscribe();
    const to = { deliveryId: "dlv_1", subscriptionId: "sub_1", address: endpoint, webKeys: keys };
    expect((await provider.send(sized(3993), to, AbortSignal.timeout(60_000))).kind).to.equal("sent");
    expect(await provider.send(sized(3994), to, AbortSignal.timeout(60_000))).to.include({ code: "PAYLOAD_TOO_LARGE" });
  });

  it("of the web-push library is accepted by the same simulator, so that both read the standard alike", async () => {
    const plain = await startWebPush({ port: 0, tls, isHttp2: false });
    const subscription = plain.subscribe();
    const { endpoint, headers, body } = webPushLibrary.generateRequestDetails(subscription, "hello", {
      vapidDetails: account,
      TTL: 60,
    });
    const reply = await client.request(
      {
        url: new URL(endpoint),
        method: "POST",
        headers,
        body: body ?? "",
        timeoutMs: 5_000,
        connectTimeoutMs: 5_000,
        maxReplyBytes: 1_000,
        poolKey: "app_1",
        maxConnections: 1,
        mayRepeat: false,
      },
      AbortSignal.timeout(60_000),
    );
    expect(reply).to.include({ kind: "answered", status: 201 });
    expect(plain.log.page().at(-1)?.body).to.equal("hello");
    await plain.stop();
  });
});
