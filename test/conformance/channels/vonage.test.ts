import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { selfSigned } from "../../../dev/simulators/kit/certificate.ts";
import { makeCredentials } from "../../../dev/simulators/kit/credentials.ts";
import { startVonage, type VonageSimulator } from "../../../dev/simulators/vonage.ts";
import { vonage } from "../../../dispatcher/channels/sms/vonage.ts";
import { restTransports } from "../../../dispatcher/net/guarded/rest.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { providerSuite } from "./suite.ts";

const clock = { now: () => new Date() };
const tls = selfSigned();
const credentials = testCredentials().vonage;
const rest = restTransports({ ca: tls.cert });
const account = {
  application_id: credentials.applicationId,
  senders: credentials.senders,
  private_key: credentials.privateKeyPem,
};
const common = { account, statusUrl: "http://127.0.0.1:1/ingress/vonage/app_1/status", rest, clock };
const text = { text: "Your parcel has left us.", mediaUrls: [], from: null, ttlSeconds: 600 };
const recipient = (n: number) => ({
  deliveryId: `dlv_${n}`,
  subscriptionId: `sub_${n}`,
  address: `+4915112${String(n).padStart(6, "0")}`,
});

after(() => rest.close());

providerSuite({
  name: "Vonage for SMS",
  start: async (sendTimeoutMs) => {
    const simulator = await startVonage({ port: 0, tls, account: credentials });
    const at = { ...common, baseUrl: simulator.url, timeoutMs: sendTimeoutMs };
    const { privateKeyPem: private_key } = makeCredentials().vonage;
    return {
      provider: vonage(at),
      refused: vonage({ ...at, account: { ...account, private_key } }),
      simulator,
      push: text,
      recipient,
      answers: [
        { answer: { status: 422, reason: "1240" }, kind: "opted_out" },
        { answer: { status: 422, reason: "1170" }, kind: "token_invalid" },
        { answer: { status: 422, reason: "1120" }, kind: "config_error" },
        { answer: { status: 422, reason: "1020" }, kind: "payload_error" },
        { answer: { status: 401, reason: "unauthorized" }, kind: "config_error" },
        { answer: { status: 402, reason: "low-balance" }, kind: "config_error" },
        { answer: { status: 429, reason: "1000", retry_after_seconds: 5 }, kind: "retry_at" },
        { answer: { status: 500, reason: "1030" }, kind: "retry_at" },
      ],
    };
  },
});

describe("a message to Vonage", () => {
  let simulator: VonageSimulator;
  const never = new AbortController().signal;
  const last = () => JSON.parse(simulator.log.page().at(-1)?.body ?? "{}") as Record<string, unknown>;

  beforeEach(async () => {
    simulator = await startVonage({ port: 0, tls, account: credentials });
  });
  afterEach(() => simulator.stop());

  it("carries our delivery's id, and numbers without a plus sign", async () => {
    const outcome = await vonage({ ...common, baseUrl: simulator.url }).send(text, recipient(1), never);
    expect(outcome.kind).to.equal("sent");
    expect(last()).to.include({
      channel: "sms",
      message_type: "text",
      text: text.text,
      to: recipient(1).address.slice(1),
      from: "15005550016",
      client_ref: "dlv_1",
      webhook_url: common.statusUrl,
      ttl: 600,
    });
  });

  it("is an MMS with media, each of its kind", async () => {
    const mediaUrls = ["https://shop.example/a.jpg", "https://shop.example/b.mp4?x=1"];
    await vonage({ ...common, baseUrl: simulator.url }).send({ ...text, mediaUrls }, recipient(1), never);
    expect(last()).to.deep.include({
      channel: "mms",
      message_type: "content",
      content: [
        { type: "image", url: mediaUrls[0], caption: text.text },
        { type: "video", url: mediaUrls[1] },
      ],
    });
  });

  it("is signed once for many", async () => {
    const provider = vonage({ ...common, baseUrl: simulator.url });
    for (const n of [1, 2]) await provider.send(text, recipient(n), never);
    const [first, second] = simulator.log.page();
    expect(first?.headers["authorization"]).to.equal(second?.headers["authorization"]);
  });

  it("is refused with a key of another application", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const other = { ...account, private_key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
    const outcome = await vonage({ ...common, account: other, baseUrl: simulator.url }).send(text, recipient(1), never);
    expect(outcome).to.include({ kind: "config_error", providerCode: "unauthorized" });
  });

  it("is not sent with what is no key", async () => {
    const other = { ...account, private_key: "none" };
    const outcome = await vonage({ ...common, account: other, baseUrl: simulator.url }).send(text, recipient(1), never);
    expect(outcome).to.include({ kind: "config_error" });
    expect(simulator.log.counts().received).to.equal(0);
  });
});
