import { expect } from "chai";
import { renderWhatsapp, whatsappBody } from "#core/channels/whatsapp/render.ts";
import type { Content } from "#core/schema/messages/notification.ts";

const to = "+4915112345678";
const deliveryId = `dlv_${"0".repeat(26)}`;

const sent = (content: Content, language: string | null = null): Record<string, unknown> =>
  JSON.parse(whatsappBody(renderWhatsapp({ content, language }), to, deliveryId)) as Record<string, unknown>;

const template = { name: "sale", language: "en_US" };

/** What the header of a template becomes. */
const headers: {
  it: string;
  header: NonNullable<NonNullable<Content["whatsapp_template"]>["header"]>;
  becomes: object;
}[] = [
  { it: "a text", header: { type: "text", text: "Hi" }, becomes: { type: "text", text: "Hi" } },
  {
    it: "an image",
    header: { type: "image", url: "https://x.test/a.png" },
    becomes: { type: "image", image: { link: "https://x.test/a.png" } },
  },
  {
    it: "a video",
    header: { type: "video", url: "https://x.test/a.mp4" },
    becomes: { type: "video", video: { link: "https://x.test/a.mp4" } },
  },
  {
    it: "a document with its name",
    header: { type: "document", url: "https://x.test/a.pdf", filename: "Invoice.pdf" },
    becomes: { type: "document", document: { link: "https://x.test/a.pdf", filename: "Invoice.pdf" } },
  },
  {
    it: "a place",
    header: { type: "location", latitude: 52.52, longitude: 13.4049999, name: "Shop", address: "Street 1" },
    becomes: {
      type: "location",
      location: { latitude: "52.520000", longitude: "13.405000", name: "Shop", address: "Street 1" },
    },
  },
];

describe("a rendered WhatsApp message", () => {
  it("names the recipient, and the delivery for the statuses that come back", () => {
    expect(sent({ contents: { en: "Hello" } })).to.deep.equal({
      messaging_product: "whatsapp",
      recipient_type: "individual",
      to,
      biz_opaque_callback_data: deliveryId,
      type: "text",
      text: { body: "Hello" },
    });
  });

  it("has the text of the recipient's language", () => {
    const content = { contents: { en: "Hello", de: "Hallo" } };
    expect(sent(content, "de")).to.have.nested.property("text.body", "Hallo");
    expect(sent(content, "fr")).to.have.nested.property("text.body", "Hello");
  });

  for (const { it: what, header, becomes } of headers)
    it(`has ${what} as the header of a template`, () => {
      const { template: made } = sent({ whatsapp_template: { ...template, header } });
      expect(made).to.deep.equal({
        name: "sale",
        language: { policy: "deterministic", code: "en_US" },
        components: [{ type: "header", parameters: [becomes] }],
      });
    });

  it("has the parameters of a template's body and buttons", () => {
    const body_params = ["Ada", "4711"];
    const button_params = [
      { index: 0, sub_type: "url" as const, value: "orders/4711" },
      { index: 1, sub_type: "quick_reply" as const, value: "stop" },
      { index: 2, sub_type: "copy_code" as const, value: "25OFF" },
    ];
    expect(sent({ whatsapp_template: { ...template, body_params, button_params } }))
      .to.have.nested.property("template.components")
      .that.deep.equals([
        {
          type: "body",
          parameters: [
            { type: "text", text: "Ada" },
            { type: "text", text: "4711" },
          ],
        },
        { type: "button", sub_type: "url", index: "0", parameters: [{ type: "text", text: "orders/4711" }] },
        { type: "button", sub_type: "quick_reply", index: "1", parameters: [{ type: "payload", payload: "stop" }] },
        {
          type: "button",
          sub_type: "copy_code",
          index: "2",
          parameters: [{ type: "coupon_code", coupon_code: "25OFF" }],
        },
      ]);
  });

  for (const { type, caption } of [
    { type: "image", caption: "Look" },
    { type: "video", caption: "Look" },
    { type: "document", caption: "Look" },
    { type: "audio", caption: undefined },
  ] as const)
    it(`has ${type} with ${caption === undefined ? "no caption" : "the text as its caption"}`, () => {
      const content = { whatsapp_media: { type, url: "https://x.test/a" }, contents: { en: "Look" } };
      const media = { link: "https://x.test/a", ...(caption === undefined ? {} : { caption }) };
      expect(sent(content)).to.deep.include({ type, [type]: media });
    });

  it("gives a document its name", () => {
    const content = { whatsapp_media: { type: "document" as const, url: "https://x.test/a", filename: "a.pdf" } };
    expect(sent(content)).to.deep.include({ document: { link: "https://x.test/a", filename: "a.pdf" } });
  });

  it("has buttons below the text", () => {
    const whatsapp_interactive = { type: "button" as const, footer: "Thanks", buttons: [{ id: "y", title: "Yes" }] };
    expect(sent({ whatsapp_interactive, contents: { en: "Sure?" } })).to.deep.include({
      type: "interactive",
      interactive: {
        type: "button",
        body: { text: "Sure?" },
        footer: { text: "Thanks" },
        action: { buttons: [{ type: "reply", reply: { id: "y", title: "Yes" } }] },
      },
    });
  });

  it("has a list behind a button", () => {
    const list = {
      button: "Choose",
      sections: [{ title: "Colours", rows: [{ id: "r", title: "Red", description: "Dark" }] }],
    };
    const whatsapp_interactive = { type: "list" as const, header: "Paint", list };
    expect(sent({ whatsapp_interactive, contents: { en: "Which?" } })).to.deep.include({
      interactive: {
        type: "list",
        header: { type: "text", text: "Paint" },
        body: { text: "Which?" },
        action: list,
      },
    });
  });

  it("answers a message of the person, puts an emoji on it, or shows a place", () => {
    const quoted = sent({ contents: { en: "Hi" }, whatsapp_reply: { context: "wamid.1" } });
    expect(quoted).to.deep.include({ context: { message_id: "wamid.1" }, type: "text", text: { body: "Hi" } });
    const reaction = { message_id: "wamid.1", emoji: "👍" };
    expect(sent({ whatsapp_reply: { reaction } })).to.deep.include({ type: "reaction", reaction });
    const location = { latitude: 52.52, longitude: 13.4049999, name: "Shop" };
    expect(sent({ whatsapp_reply: { location } })).to.deep.include({
      type: "location",
      location: { latitude: "52.520000", longitude: "13.405000", name: "Shop" },
    });
  });

  it("escapes whatever the texts have", () => {
    expect(sent({ contents: { en: 'a "b"\n\\' } })).to.have.nested.property("text.body", 'a "b"\n\\');
  });
});
