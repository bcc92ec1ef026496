import { expect } from "chai";
import { maxInboundText, said } from "#core/channels/kit/inbound.ts";
import { inboundIn } from "#core/channels/whatsapp/inbound.ts";
import { keptMessageId } from "#core/channels/whatsapp/values.ts";

const seconds = "1764158400";
const at = new Date(Number(seconds) * 1_000);
const wamid = "wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRBNjU5OUFFRTAzODEwMTQ0RgA=";
const quoted = "wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA";

const value = (...messages: unknown[]) => ({
  messaging_product: "whatsapp",
  metadata: { display_phone_number: "15550783881", phone_number_id: "106540352242922" },
  contacts: [{ profile: { name: "Sheena Nelson" }, wa_id: "16505551234" }],
  messages,
});
const message = (over: object) => ({ from: "16505551234", id: wamid, timestamp: seconds, ...over });
const first = (over: object) => inboundIn(value(message(over)))[0];
const file = { id: null, url: null, filename: null, mimeType: null };

describe("a message on WhatsApp", () => {
  it("tells who wrote it, under which name, to which number, and both its ids", () => {
    expect(first({ type: "text", text: { body: "Does it come in red?" } })).to.deep.equal({
      ...said("text", "Does it come in red?"),
      providerId: keptMessageId(wamid),
      rawId: wamid,
      address: "+16505551234",
      sender: "106540352242922",
      at,
      word: null,
      name: "Sheena Nelson",
      replyTo: null,
      isFromAd: false,
    });
  });

  const contents: { it: string; over: object; becomes: object }[] = [
    {
      it: "an image with a caption",
      over: {
        type: "image",
        image: { caption: "Mine", mime_type: "image/jpeg", sha256: "S=", id: "1003383421387256" },
      },
      becomes: said("media", "Mine", {
        media: [{ ...file, type: "image", id: "1003383421387256", mimeType: "image/jpeg" }],
      }),
    },
    {
      it: "a document with its name",
      over: { type: "document", document: { filename: "invoice.pdf", mime_type: "application/pdf", id: "2" } },
      becomes: said("media", null, {
        media: [{ ...file, type: "document", id: "2", filename: "invoice.pdf", mimeType: "application/pdf" }],
      }),
    },
    {
      it: "a voice message",
      over: { type: "audio", audio: { mime_type: "audio/ogg; codecs=opus", id: "3", voice: true } },
      becomes: said("media", null, {
        media: [{ ...file, type: "audio", id: "3", mimeType: "audio/ogg; codecs=opus" }],
      }),
    },
    {
      it: "a video",
      over: { type: "video", video: { mime_type: "video/mp4", id: "4" } },
      becomes: said("media", null, { media: [{ ...file, type: "video", id: "4", mimeType: "video/mp4" }] }),
    },
    {
      it: "a sticker",
      over: { type: "sticker", sticker: { mime_type: "image/webp", id: "5", animated: false } },
      becomes: said("sticker", null, { media: [{ ...file, type: "sticker", id: "5", mimeType: "image/webp" }] }),
    },
    {
      it: "a template's button",
      over: { type: "button", button: { payload: "no-payload", text: "No" } },
      becomes: said("button_reply", "No", { button: { id: "no-payload", title: "No" } }),
    },
    {
      it: "a reply button",
      over: {
        type: "interactive",
        interactive: { type: "button_reply", button_reply: { id: "cancel-1", title: "Cancel it" } },
      },
      becomes: said("button_reply", "Cancel it", { button: { id: "cancel-1", title: "Cancel it" } }),
    },
    {
      it: "a row of a list",
      over: {
        type: "interactive",
        interactive: {
          type: "list_reply",
          list_reply: { id: "priority", title: "Priority Mail", description: "1-3 days" },
        },
      },
      becomes: said("list_reply", "Priority Mail", { button: { id: "priority", title: "Priority Mail" } }),
    },
    {
      it: "a place",
      over: {
        type: "location",
        location: {
          address: "1071 5th Ave",
          latitude: 40.782910059774,
          longitude: -73.959075808525,
          name: "Guggenheim",
        },
      },
      becomes: said("location", "Guggenheim", {
        location: {
          latitude: 40.782910059774,
          longitude: -73.959075808525,
          name: "Guggenheim",
          address: "1071 5th Ave",
        },
      }),
    },
    {
      it: "cards of contacts",
      over: {
        type: "contacts",
        contacts: [
          {
            name: { formatted_name: "Barbara J. Johnson", first_name: "Barbara" },
            phones: [{ phone: "+1 (650) 555-1235", type: "MOBILE", wa_id: "16505551235" }, { type: "HOME" }],
            emails: [{ email: "barbara@example.com", type: "WORK" }],
          },
        ],
      },
      becomes: said("contacts", null, {
        contacts: [{ name: "Barbara J. Johnson", phones: ["+1 (650) 555-1235"], emails: ["barbara@example.com"] }],
      }),
    },
    {
      it: "a reaction",
      over: { type: "reaction", reaction: { message_id: quoted, emoji: "👍" } },
      becomes: said("reaction", null, { reaction: { messageId: keptMessageId(quoted), emoji: "👍" } }),
    },
    {
      it: "a reaction that is taken back",
      over: { type: "reaction", reaction: { message_id: quoted } },
      becomes: said("reaction", null, { reaction: { messageId: keptMessageId(quoted), emoji: null } }),
    },
    {
      it: "an order",
      over: {
        type: "order",
        order: {
          catalog_id: "194836987003835",
          text: "Love these!",
          product_items: [
            { product_retailer_id: "di9ozbzfi4", quantity: 2, item_price: 30, currency: "USD" },
            { product_retailer_id: "nqryix03ez", quantity: "1", item_price: "25", currency: "USD" },
            { quantity: 1 },
          ],
        },
      },
      becomes: said("order", "Love these!", {
        order: {
          catalogId: "194836987003835",
          items: [
            { productId: "di9ozbzfi4", quantity: 2, price: 30, currency: "USD" },
            { productId: "nqryix03ez", quantity: 1, price: 25, currency: "USD" },
          ],
        },
      }),
    },
    {
      it: "what Meta does not support",
      over: { type: "unsupported", errors: [{ code: 131051, title: "Message type unknown" }] },
      becomes: said("unsupported", null),
    },
    { it: "a type of later", over: { type: "hologram", hologram: { id: "1" } }, becomes: said("unsupported", null) },
    {
      it: "the name of a member that all objects have",
      over: { type: "constructor" },
      becomes: said("unsupported", null),
    },
    { it: "no type", over: {}, becomes: said("unsupported", null) },
    { it: "an image without its id", over: { type: "image", image: {} }, becomes: said("unsupported", null) },
    {
      it: "a place that is nowhere",
      over: { type: "location", location: { latitude: 91, longitude: 0 } },
      becomes: said("unsupported", null),
    },
    {
      it: "a form, which is neither a button nor a row",
      over: { type: "interactive", interactive: { type: "nfm_reply", nfm_reply: { response_json: "{}" } } },
      becomes: said("unsupported", null),
    },
  ];
  for (const { it: what, over, becomes } of contents)
    it(`may be ${what}`, () => {
      expect(first(over)).to.deep.include(becomes);
    });

  it("may answer another one, and come from an advertisement", () => {
    const over = { type: "text", text: { body: "Yes" }, context: { from: "15550783881", id: quoted } };
    expect(first(over)).to.include({ replyTo: keptMessageId(quoted), isFromAd: false });
    const ad = { type: "text", text: { body: "Hi" }, referral: { source_type: "ad", source_id: "120226305854810726" } };
    expect(first(ad)).to.include({ replyTo: null, isFromAd: true });
  });

  it("has no more text and no more parts than are kept", () => {
    expect(first({ type: "text", text: { body: "a".repeat(maxInboundText + 1) } })?.text).to.have.length(
      maxInboundText,
    );
    const [cards] = inboundIn(value(message({ type: "contacts", contacts: Array.from({ length: 100 }, () => ({})) })));
    expect(cards?.contacts).to.have.length(30);
  });

  it("is no word where it is the name of a place or the text below a picture", () => {
    const image = { type: "image", image: { id: "1", caption: "STOP" } };
    const place = { type: "location", location: { latitude: 1, longitude: 1, name: "END" } };
    expect([first(image)?.word, first(place)?.word]).to.deep.equal([null, null]);
  });

  it("is left out without a sender, an id or an instant", () => {
    const broken = [{ from: undefined }, { id: 7 }, { timestamp: "soon" }, { from: "Ada" }];
    expect(inboundIn(value(...broken.map((over) => message({ type: "text", ...over })), null, 7))).to.deep.equal([]);
  });
});
