import { expect } from "chai";
import { said } from "#core/channels/kit/inbound.ts";
import { inboundIn } from "#core/channels/sms/callbacks/vonage-inbound.ts";

const receivedAt = new Date("2026-11-22T12:00:00Z");
const uuid = "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab";
const sms = { channel: "sms", message_uuid: uuid, to: "447700900000", from: "447700900001" };
const of = (more: object) => inboundIn({ ...sms, timestamp: "2025-02-03T12:14:25Z", ...more }, receivedAt);
const file = { id: null, filename: null, mimeType: null };

describe("a message that Vonage hands over", () => {
  it("tells who wrote to which number, and when", () => {
    expect(of({ message_type: "text", text: "Nexmo", context: { message_uuid: "1" } })).to.deep.equal([
      {
        ...said("text", "Nexmo"),
        providerId: uuid,
        rawId: null,
        address: "+447700900001",
        sender: "+447700900000",
        at: new Date("2025-02-03T12:14:25Z"),
        word: null,
        name: null,
        replyTo: "1",
        isFromAd: false,
      },
    ]);
  });

  it("may be written to a short code", () => {
    expect(of({ to: "12345", text: "Hi" })[0]?.sender).to.equal("12345");
  });

  const image = { url: "https://example.com/image.jpg", name: "image.jpg", caption: "Here" };
  const contents: { it: string; body: object; becomes: object }[] = [
    {
      it: "a picture",
      body: { channel: "mms", message_type: "image", image },
      becomes: said("media", "Here", { media: [{ ...file, type: "image", url: image.url, filename: "image.jpg" }] }),
    },
    {
      it: "a card",
      body: { channel: "mms", message_type: "vcard", vcard: { url: "https://example.com/c.vcf" } },
      becomes: said("media", null, { media: [{ ...file, type: "document", url: "https://example.com/c.vcf" }] }),
    },
    {
      it: "texts and files",
      body: {
        channel: "mms",
        message_type: "content",
        content: [
          { type: "text", text: "One" },
          { type: "audio", url: "https://example.com/a.mp3" },
          { type: "text", text: "Two" },
        ],
      },
      becomes: said("media", "One\nTwo", { media: [{ ...file, type: "audio", url: "https://example.com/a.mp3" }] }),
    },
    ...(["video", "audio", "file"] as const).map((type) => ({
      it: `a file as ${type}`,
      body: { channel: "mms", message_type: type, [type]: { url: "https://example.com/a" }, text: "Here" },
      becomes: said("media", "Here", {
        media: [{ ...file, type: type === "file" ? ("document" as const) : type, url: "https://example.com/a" }],
      }),
    })),
    {
      it: "a button",
      body: { message_type: "button", button: { payload: "yes", text: "Yes" } },
      becomes: said("button_reply", "Yes", { button: { id: "yes", title: "Yes" } }),
    },
    {
      it: "what was chosen",
      body: { message_type: "reply", reply: { id: "row1", title: "9am", description: "Select 9am" } },
      becomes: said("button_reply", "9am", { button: { id: "row1", title: "9am" } }),
    },
    {
      it: "a place",
      body: {
        message_type: "location",
        location: { lat: 40.34772, long: -74.18847, name: "Vonage", address: "23 Main St" },
      },
      becomes: said("location", "Vonage", {
        location: { latitude: 40.34772, longitude: -74.18847, name: "Vonage", address: "23 Main St" },
      }),
    },
    { it: "a type of later", body: { message_type: "hologram" }, becomes: said("unsupported", null) },
    {
      it: "a picture without an address",
      body: { message_type: "image", image: {} },
      becomes: said("unsupported", null),
    },
    { it: "an empty list", body: { message_type: "content", content: [] }, becomes: said("unsupported", null) },
  ];
  for (const { it: what, body, becomes } of contents)
    it(`may be ${what}`, () => {
      expect(of(body)[0]).to.deep.include(becomes);
    });

  it("is left out from another channel of the application", () => {
    expect(of({ channel: "viber_service", text: "STOP" })).to.deep.equal([]);
  });

  it("is not readable without its id or sender", () => {
    for (const missing of [{ message_uuid: "" }, { from: 7 }])
      expect(() => of(missing)).to.throw("without its id or sender");
  });
});
