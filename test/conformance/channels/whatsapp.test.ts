import { expect } from "chai";
import { renderWhatsapp, type WhatsappMessage } from "#core/channels/whatsapp/render.ts";
import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import { type Content } from "#core/schema/messages/notification.ts";
import { startWhatsapp, type WhatsappSimulator } from "../../../dev/simulators/whatsapp.ts";
import { meta } from "../../../dispatcher/channels/whatsapp/meta.ts";
import { restTransports } from "../../../dispatcher/net/guarded/rest.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { providerSuite } from "./suite.ts";

const { tls, whatsapp: account } = testCredentials();
const rest = restTransports({ ca: tls.cert });
after(() => rest.close());

const recipient = (n: number) => ({
  deliveryId: derivedId("delivery", String(n)),
  subscriptionId: derivedId("subscription", String(n)),
  address: `+49151${String(n).padStart(8, "0")}`,
});

const providerOf = (
  { url }: WhatsappSimulator,
  { messagesPerSecond = 1_000, timeoutMs = 20_000, accessToken = account.accessToken } = {},
) =>
  meta({
    account: { ...account, accessToken, apiVersion: "v25.0", messagesPerSecond },
    baseUrl: url,
    open: rest.open,
    clock: systemClock,
    timeoutMs,
  });

const messageOf = (content: Content): WhatsappMessage => renderWhatsapp({ content, language: null });

const orderUpdate = messageOf({
  whatsapp_template: { name: "order_update", language: "en_US", body_params: ["Ada", "4711"] },
});

providerSuite<WhatsappMessage>({
  name: "WhatsApp",
  start: async (sendTimeoutMs) => {
    const simulator = await startWhatsapp({ port: 0, tls, account });
    const provider = providerOf(simulator, { timeoutMs: sendTimeoutMs });
    return {
      simulator,
      provider,
      refused: providerOf(simulator, { timeoutMs: sendTimeoutMs, accessToken: "of another" }),
      push: orderUpdate,
      recipient,
      answers: [
        { answer: { status: 401, reason: "190" }, kind: "config_error" },
        { answer: { status: 403, reason: "368" }, kind: "config_error" },
        { answer: { status: 429, reason: "130429" }, kind: "retry_at" },
        { answer: { status: 400, reason: "131056" }, kind: "retry_at" },
        { answer: { status: 500, reason: "131016" }, kind: "retry_at" },
        { answer: { status: 400, reason: "131026" }, kind: "payload_error" },
        { answer: { status: 400, reason: "131047" }, kind: "payload_error" },
        { answer: { status: 404, reason: "132001" }, kind: "payload_error" },
        { answer: { status: 400, reason: "131053" }, kind: "payload_error" },
      ],
    };
  },
});

describe("WhatsApp's simulator, which checks as Meta does", () => {
  let simulator: WhatsappSimulator;
  const begin = async (messagesPerSecond = 1_000) => {
    simulator = await startWhatsapp({ port: 0, tls, account, messagesPerSecond });
    return providerOf(simulator, { messagesPerSecond });
  };
  afterEach(() => simulator.stop());

  const link = "https://shop.test/a";
  const forms: { it: string; content: Content }[] = [
    { it: "a text", content: { contents: { en: "Hello" } } },
    ...(["image", "video", "document", "audio"] as const).map((type) => ({
      it: type,
      content: {
        whatsapp_media: { type, url: link, ...(type === "document" && { filename: "a.pdf" }) },
        contents: { en: "Look" },
      },
    })),
    {
      it: "buttons",
      content: {
        contents: { en: "Sure?" },
        whatsapp_interactive: {
          type: "button",
          header: "Order",
          footer: "Thanks",
          buttons: [{ id: "y", title: "Yes" }],
        },
      },
    },
    {
      it: "a list",
      content: {
        contents: { en: "Which?" },
        whatsapp_interactive: {
          type: "list",
          list: { button: "Choose", sections: [{ rows: [{ id: "r", title: "Red" }] }] },
        },
      },
    },
    {
      it: "a template with a document and a link",
      content: {
        whatsapp_template: {
          name: "receipt",
          language: "en",
          header: { type: "document", url: link, filename: "a.pdf" },
          body_params: ["4711"],
          button_params: [{ index: 0, sub_type: "url", value: "4711" }],
        },
      },
    },
    {
      it: "a template with an image, a code and a reply",
      content: {
        whatsapp_template: {
          name: "sale",
          language: "en",
          header: { type: "image", url: link },
          body_params: ["25 %"],
          button_params: [
            { index: 0, sub_type: "copy_code", value: "25OFF" },
            { index: 1, sub_type: "quick_reply", value: "stop" },
          ],
        },
      },
    },
    {
      it: "a template with a place",
      content: {
        whatsapp_template: {
          name: "shop",
          language: "de",
          header: { type: "location", latitude: 52.5, longitude: 13.4, name: "Shop" },
        },
      },
    },
  ];
  for (const { it: what, content } of forms)
    it(`takes ${what}`, async () => {
      const provider = await begin();
      simulator.openSession(recipient(1).address);
      expect(await provider.send(messageOf(content), recipient(1), new AbortController().signal)).to.include({
        kind: "sent",
      });
    });

  const refusals: { it: string; content: Content; code: string; isOpen?: boolean }[] = [
    { it: "a text to somebody who never wrote", content: { contents: { en: "Hi" } }, code: "131047", isOpen: false },
    {
      it: "a template that is not there",
      content: { whatsapp_template: { name: "nothing", language: "en" } },
      code: "132001",
    },
    {
      it: "a template in another language",
      content: { whatsapp_template: { name: "order_update", language: "de" } },
      code: "132001",
    },
    {
      it: "too few parameters",
      content: { whatsapp_template: { name: "order_update", language: "en_US", body_params: ["a"] } },
      code: "132000",
    },
    {
      it: "a missing header",
      content: { whatsapp_template: { name: "receipt", language: "en", body_params: ["a"] } },
      code: "132000",
    },
    {
      it: "a header of another type",
      content: {
        whatsapp_template: {
          name: "receipt",
          language: "en",
          header: { type: "image", url: link },
          body_params: ["a"],
        },
      },
      code: "132012",
    },
    { it: "a text of 4,097 characters", content: { contents: { en: "x".repeat(4_097) } }, code: "131009" },
  ];
  for (const { it: what, content, code, isOpen = true } of refusals)
    it(`refuses ${what} with ${code}`, async () => {
      const provider = await begin();
      if (isOpen) simulator.openSession(recipient(1).address);
      const outcome = await provider.send(messageOf(content), recipient(1), new AbortController().signal);
      expect(outcome).to.include({ kind: "payload_error", providerCode: code });
    });

  it("never meets the limit of a number, because it is paced", async () => {
    const provider = await begin(40);
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, n) => provider.send(orderUpdate, recipient(n), new AbortController().signal)),
    );
    expect(outcomes.filter(({ kind }) => kind !== "sent")).to.deep.equal([]);
  });
});
