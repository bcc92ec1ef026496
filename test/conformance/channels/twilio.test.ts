import { expect } from "chai";
import { renderRcs } from "#core/channels/rcs/render.ts";
import { renderTwilioWhatsapp } from "#core/channels/whatsapp/twilio-render.ts";
import type { ContentTemplates } from "#core/storage/content-templates/content-templates.ts";
import { selfSigned } from "../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { startTwilio, type TwilioSimulator } from "../../../dev/simulators/twilio.ts";
import { twilioRcs } from "../../../dispatcher/channels/rcs/twilio.ts";
import { twilioSms } from "../../../dispatcher/channels/sms/twilio.ts";
import { twilioWhatsapp } from "../../../dispatcher/channels/whatsapp/twilio.ts";
import { restTransports } from "../../../dispatcher/net/guarded/rest.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { providerSuite } from "./suite.ts";

const clock = { now: () => new Date() };
const tls = selfSigned();
const { twilio } = testCredentials();
const rest = restTransports({ ca: tls.cert });
const app = { appId: "app_1", tenantId: "ten_1" };
const statusUrl = (deliveryId: string) => `http://127.0.0.1:1/ingress/twilio/app_1/status/${deliveryId}`;
const text = { text: "Your parcel has left us.", mediaUrls: [], from: null, ttlSeconds: 600 };

const smsAccount = {
  account_sid: twilio.sms.accountSid,
  auth_token: twilio.sms.authToken,
  api_key_sid: twilio.sms.apiKey?.sid ?? null,
  api_key_secret: twilio.sms.apiKey?.secret ?? null,
  messaging_service_sid: null,
  senders: twilio.sms.senders,
};
const rcsAccount = {
  account_sid: twilio.rcs.accountSid,
  auth_token: twilio.rcs.authToken,
  api_key_sid: null,
  api_key_secret: null,
  sender: twilio.rcs.rcsSender ?? "",
  messaging_service_sid: twilio.rcs.messagingServiceSid,
};

const whatsappAccount = {
  account_sid: twilio.whatsapp.accountSid,
  auth_token: twilio.whatsapp.authToken,
  api_key_sid: null,
  api_key_secret: null,
  sender: twilio.whatsapp.whatsappSender?.replace("whatsapp:", "") ?? "",
  messagesPerSecond: 1_000,
};

const recipient = (n: number) => ({
  deliveryId: `dlv_${n}`,
  subscriptionId: `sub_${n}`,
  address: `+4915112${String(n).padStart(6, "0")}`,
});

/** Templates as a store keeps them. */
const kept = (): ContentTemplates => {
  const rows = new Map<string, string>();
  return {
    find: async (id) => rows.get(id) ?? null,
    keep: async ({ _id, provider_id: made }) => !rows.has(_id) && rows.set(_id, made).has(_id),
    forget: async (id) => void rows.delete(id),
  };
};

const smsOf = ({ url }: TwilioSimulator, timeoutMs?: number, account = smsAccount) =>
  twilioSms({ account, baseUrl: url, statusUrl, rest, clock, ...(timeoutMs && { timeoutMs }) });
const rcsOf = ({ url }: TwilioSimulator, timeoutMs?: number, { templates = kept(), account = rcsAccount } = {}) => {
  const common = { baseUrl: url, contentUrl: url, statusUrl, rest, clock, ...(timeoutMs && { timeoutMs }) };
  return twilioRcs({ ...common, account, app, templates });
};
const whatsappOf = ({ url }: TwilioSimulator, timeoutMs?: number, account = whatsappAccount) => {
  const common = { baseUrl: url, contentUrl: url, statusUrl, rest, clock, ...(timeoutMs && { timeoutMs }) };
  return twilioWhatsapp({ ...common, account, app, templates: kept() });
};
const simulatorOf = ({ channels, stop }: TwilioSimulator, channel: string): Simulator => {
  const one = channels[channel];
  if (one === undefined) throw new Error(`no ${channel}`);
  return { ...one, stop };
};

after(() => rest.close());

const answers = [
  { answer: { status: 400, reason: "21610" }, kind: "opted_out" },
  { answer: { status: 400, reason: "21211" }, kind: "token_invalid" },
  { answer: { status: 400, reason: "21606" }, kind: "config_error" },
  { answer: { status: 400, reason: "21617" }, kind: "payload_error" },
  { answer: { status: 401, reason: "20003" }, kind: "config_error" },
  { answer: { status: 429, reason: "20429", retry_after_seconds: 5 }, kind: "retry_at" },
  { answer: { status: 500, reason: "20500" }, kind: "retry_at" },
  { answer: { status: 503, reason: "20503" }, kind: "retry_at" },
] as const;

providerSuite({
  name: "Twilio for SMS",
  start: async (sendTimeoutMs) => {
    const simulator = await startTwilio({ port: 0, tls, accounts: twilio });
    return {
      provider: smsOf(simulator, sendTimeoutMs),
      refused: smsOf(simulator, sendTimeoutMs, { ...smsAccount, api_key_secret: "of another" }),
      simulator: simulatorOf(simulator, "sms"),
      push: text,
      recipient,
      answers,
    };
  },
});

const rendering = { messageId: "msg_1", options: {}, language: "en", ttlSeconds: 600 };

providerSuite({
  name: "Twilio for RCS",
  start: async (sendTimeoutMs) => {
    const simulator = await startTwilio({ port: 0, tls, accounts: twilio });
    return {
      provider: rcsOf(simulator, sendTimeoutMs),
      refused: rcsOf(simulator, sendTimeoutMs, { account: { ...rcsAccount, auth_token: "of another" } }),
      simulator: simulatorOf(simulator, "rcs"),
      push: renderRcs({ ...rendering, content: { contents: { en: "Hello" } } }),
      recipient,
      answers,
    };
  },
});

providerSuite({
  name: "Twilio for WhatsApp",
  start: async (sendTimeoutMs) => {
    const simulator = await startTwilio({ port: 0, tls, accounts: twilio });
    return {
      provider: whatsappOf(simulator, sendTimeoutMs),
      refused: whatsappOf(simulator, sendTimeoutMs, { ...whatsappAccount, auth_token: "of another" }),
      simulator: simulatorOf(simulator, "whatsapp"),
      push: renderTwilioWhatsapp({ ...rendering, content: { contents: { en: "Hello" } } }),
      recipient,
      answers,
    };
  },
});

describe("a message to Twilio", () => {
  let simulator: TwilioSimulator;
  const never = new AbortController().signal;
  const last = (channel: string) => {
    const [entry] = simulatorOf(simulator, channel).log.page().slice(-1);
    return JSON.parse(entry?.body ?? "{}") as Record<string, string | string[]>;
  };

  beforeEach(async () => {
    simulator = await startTwilio({ port: 0, tls, accounts: twilio });
  });
  afterEach(() => simulator.stop());

  it("carries its text, media, status address and what is left of its ttl", async () => {
    const mediaUrls = ["https://shop.example/a.jpg", "https://shop.example/b.jpg"];
    const outcome = await smsOf(simulator).send({ ...text, mediaUrls }, recipient(1), never);
    expect(outcome)
      .to.have.property("providerId")
      .that.matches(/^SM[0-9a-f]{32}$/);
    expect(last("sms")).to.include({
      To: recipient(1).address,
      Body: text.text,
      StatusCallback: statusUrl("dlv_1"),
      ValidityPeriod: "600",
    });
    expect(last("sms")["MediaUrl"]).to.deep.equal(mediaUrls);
  });

  it("is sent although half a character is in its text", async () => {
    expect((await smsOf(simulator).send({ ...text, text: "\ud83d" }, recipient(1), never)).kind).to.equal("sent");
    expect(last("sms")["Body"]).to.equal("\ufffd");
  });

  it("comes from the sender that the message names, else from one that its recipient keeps", async () => {
    const provider = smsOf(simulator);
    await provider.send({ ...text, from: "+15005550007" }, recipient(1), never);
    expect(last("sms")["From"]).to.equal("+15005550007");
    const senders = new Set<unknown>();
    for (let n = 0; n < 20; n++) {
      await provider.send(text, recipient(3), never);
      senders.add(last("sms")["From"]);
    }
    expect(senders.size).to.equal(1);
  });

  it("is left to a Messaging Service when the account has one", async () => {
    const account = { ...smsAccount, senders: null, messaging_service_sid: twilio.sms.messagingServiceSid };
    const provider = twilioSms({ account, baseUrl: simulator.url, statusUrl, rest, clock });
    expect((await provider.send(text, recipient(1), never)).kind).to.equal("sent");
    expect(last("sms"))
      .to.include({ MessagingServiceSid: twilio.sms.messagingServiceSid })
      .and.not.have.property("From");
  });

  it("is refused for a number that has opted out", async () => {
    await simulator.write("sms", { from: recipient(1).address, body: "STOP", url: "http://127.0.0.1:1/" });
    expect(await smsOf(simulator).send(text, recipient(1), never)).to.include({
      kind: "opted_out",
      providerCode: "21610",
    });
  });

  const wrong: { it: string; change: Partial<typeof smsAccount>; code: string }[] = [
    { it: "another secret of the key", change: { api_key_secret: "x" }, code: "20003" },
    { it: "a sender that is not the account's", change: { senders: ["+15005559999"] }, code: "21606" },
  ];
  for (const { it: name, change, code } of wrong) {
    it(`is refused with ${name}`, async () => {
      const account = { ...smsAccount, ...change };
      const outcome = await twilioSms({ account, baseUrl: simulator.url, statusUrl, rest, clock }).send(
        text,
        recipient(1),
        never,
      );
      expect(outcome).to.include({ kind: "config_error", providerCode: code });
    });
  }

  const card = {
    rcs_card: { title: { en: "Order 4711" }, media_url: "https://shop.example/a.jpg" },
    rcs_suggestions: [{ type: "reply" as const, text: "Thanks", postback_data: "thanks" }],
  };

  it("goes by RCS alone without a fallback text", async () => {
    const push = renderRcs({ ...rendering, content: { contents: { en: "Hello" } } });
    await rcsOf(simulator).send(push, recipient(1), never);
    const { To, From, Body } = last("rcs");
    expect({ To, From, Body }).to.deep.equal({
      To: `rcs:${recipient(1).address}`,
      From: "rcs:shop_agent",
      Body: "Hello",
    });
  });

  it("makes one Content template for a card, however many get it", async () => {
    const push = renderRcs({ ...rendering, content: { ...card, rcs_fallback_text: { en: "See shop.example" } } });
    const templates = kept();
    const provider = rcsOf(simulator, undefined, { templates });
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, n) => provider.send(push, recipient(n), never)));
    await rcsOf(simulator, undefined, { templates }).send(push, recipient(50), never);
    expect(outcomes.filter(({ kind }) => kind !== "sent")).to.deep.equal([]);
    const sids = simulatorOf(simulator, "rcs")
      .log.page()
      .map(({ body }) => (JSON.parse(body) as { ContentSid?: string }).ContentSid);
    expect(new Set(sids).size).to.equal(1);
    expect(last("rcs")).to.include({ To: recipient(50).address, MessagingServiceSid: twilio.rcs.messagingServiceSid });
  });

  it("makes a template again that somebody has removed", async () => {
    const push = renderRcs({ ...rendering, content: card });
    const provider = rcsOf(simulator);
    expect((await provider.send(push, recipient(1), never)).kind).to.equal("sent");
    simulator.templates.clear();
    expect(await provider.send(push, recipient(2), never)).to.include({ kind: "retry_at", providerCode: "21655" });
    expect((await provider.send(push, recipient(2), never)).kind).to.equal("sent");
  });

  it("names a Content template of the account's own with its variables", async () => {
    const content = { rcs_content_sid: `HX${"0".repeat(32)}`, rcs_content_variables: { "1": "Ada" } };
    const outcome = await rcsOf(simulator).send(renderRcs({ ...rendering, content }), recipient(1), never);
    expect(outcome).to.include({ kind: "payload_error", providerCode: "21655" }); // the simulator knows none of that SID
    expect(last("rcs")).to.include({ ContentSid: content.rcs_content_sid, ContentVariables: '{"1":"Ada"}' });
  });
});
