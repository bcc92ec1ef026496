import { expect } from "chai";
import { channelsWithContent, emptyTexts, impossible } from "#core/channels/content.ts";
import type { Content } from "#core/schema/messages/notification.ts";

const postback = { text: "Yes", postback_data: "yes" };
const reply = { type: "reply" as const, ...postback };
const replies = (count: number) => Array.from({ length: count }, () => reply);
const event = { type: "create_calendar_event" as const, ...postback, title: "Delivery" };
const card = { title: { en: "Order" }, media_url: "https://shop.example/a.jpg" };

const cases: { it: string; content: Content; fields: string[] }[] = [
  { it: "a text", content: { contents: { en: "Hi" } }, fields: [] },
  { it: "a text of 3,072 characters", content: { contents: { en: "x".repeat(3072) } }, fields: [] },
  { it: "a longer text", content: { contents: { en: "x".repeat(3073) } }, fields: ["contents.en"] },
  { it: "a card with a picture", content: { rcs_card: card }, fields: [] },
  { it: "a card with a title alone", content: { rcs_card: { title: { en: "Order" } } }, fields: ["rcs_card"] },
  {
    it: "a card without words",
    content: { rcs_card: { media_url: card.media_url } },
    fields: ["rcs_card", "rcs_card"],
  },
  {
    it: "a title that is too long",
    content: { rcs_card: { ...card, title: { de: "x".repeat(201) } } },
    fields: ["rcs_card.title.de"],
  },
  { it: "four suggestions of a card", content: { rcs_card: card, rcs_suggestions: replies(4) }, fields: [] },
  {
    it: "five suggestions of a card",
    content: { rcs_card: card, rcs_suggestions: replies(5) },
    fields: ["rcs_suggestions"],
  },
  {
    it: "eleven suggestions of a text",
    content: { contents: { en: "Hi" }, rcs_suggestions: replies(11) },
    fields: [],
  },
  {
    it: "a template beside a card",
    content: { rcs_content_sid: "HX1", rcs_card: card, rcs_suggestions: [reply] },
    fields: ["rcs_card", "rcs_suggestions"],
  },
  {
    it: "a template with a fallback",
    content: { rcs_content_sid: "HX1", rcs_fallback_text: { en: "Hi" } },
    fields: ["rcs_fallback_text"],
  },
  {
    it: "variables without a template",
    content: { contents: { en: "Hi" }, rcs_content_variables: { "1": "x" } },
    fields: ["rcs_content_variables"],
  },
  {
    it: "a card with a fallback",
    content: { rcs_card: card, rcs_fallback_text: { en: "See shop.example" } },
    fields: [],
  },
  {
    it: "a text that falls back to itself",
    content: { contents: { en: "Hi" }, rcs_fallback_text: { en: "Hi" } },
    fields: [],
  },
  {
    it: "a text with another fallback",
    content: { contents: { en: "Hi" }, rcs_fallback_text: { en: "Ho" } },
    fields: ["rcs_fallback_text"],
  },
  {
    it: "a variable in a card",
    content: { rcs_card: { ...card, title: { en: "{{1}}" } }, rcs_fallback_text: { en: "Hi" } },
    fields: ["rcs_card.title"],
  },
  {
    it: "a card without a word in one language",
    content: { rcs_card: { ...card, title: { en: "Hi", de: "" } } },
    fields: ["rcs_card"],
  },
  {
    it: "a card whose description has the words that its title lacks",
    content: { rcs_card: { ...card, title: { en: "" }, description: { en: "Hi" } } },
    fields: [],
  },
  {
    it: "an SMS without a word in its place",
    content: { rcs_card: card, rcs_fallback_text: { en: "" } },
    fields: ["rcs_fallback_text.en"],
  },
  { it: "a variable in a text", content: { contents: { en: "{{1}}" } }, fields: [] },
  {
    it: "a place by nothing",
    content: { contents: { en: "Hi" }, rcs_suggestions: [{ type: "view_location", ...postback, latitude: 1 }] },
    fields: ["rcs_suggestions[0]"],
  },
  {
    it: "an event that ends before it begins",
    content: {
      contents: { en: "Hi" },
      rcs_suggestions: [reply, { ...event, start: "2026-11-22T12:00:00Z", end: "2026-11-22T12:00:00+01:00" }],
    },
    fields: ["rcs_suggestions[1].end"],
  },
];

describe("an RCS message with", () => {
  for (const { it: name, content, fields } of cases) {
    it(`${name} ${fields.length === 0 ? "is sent" : `is refused for ${fields.join(", ")}`}`, () => {
      expect(impossible({ content, options: {} }, ["rcs"]).map(({ field }) => field)).to.deep.equal(fields);
    });
  }
});

describe("the channels of a message that names none", () => {
  const meant: { content: Content; channels: string[] }[] = [
    { content: { contents: { en: "Hi" } }, channels: ["ios_push", "android_push", "hms_push", "web_push"] },
    {
      content: { contents: { en: "Hi" }, sms_from: "Shop" },
      channels: ["ios_push", "android_push", "hms_push", "web_push", "sms"],
    },
    { content: { sms_media_urls: ["https://shop.example/a.jpg"] }, channels: ["sms"] },
    { content: { sms_from: "Shop" }, channels: [] },
    { content: { rcs_card: card }, channels: ["rcs"] },
    { content: { rcs_content_sid: "HX1" }, channels: ["rcs"] },
  ];
  for (const { content, channels } of meant) {
    it(`are ${channels.join(", ") || "none"} with ${JSON.stringify(Object.keys(content))}`, () => {
      expect(channelsWithContent(content)).to.deep.equal(channels);
    });
  }
});

describe("a text message", () => {
  const refused: { it: string; content: Content; fields: string[] }[] = [
    { it: "of 1,600 characters", content: { contents: { en: "x".repeat(1600) } }, fields: [] },
    { it: "of one more", content: { contents: { en: "x".repeat(1601), de: "x" } }, fields: ["contents.en"] },
    { it: "from a name", content: { contents: { en: "x" }, sms_from: "Shop 24" }, fields: [] },
    {
      it: "from a name that is too long",
      content: { contents: { en: "x" }, sms_from: "TwelveLetter" },
      fields: ["sms_from"],
    },
    { it: "from a national number", content: { contents: { en: "x" }, sms_from: "030/123456" }, fields: ["sms_from"] },
  ];
  for (const { it: name, content, fields } of refused) {
    it(`${name} ${fields.length === 0 ? "is sent" : `is refused for ${fields.join(", ")}`}`, () => {
      expect(impossible({ content, options: {} }, ["sms"]).map(({ field }) => field)).to.deep.equal(fields);
    });
  }

  it("without words or media is refused", () => {
    expect(emptyTexts({ contents: { en: "x", de: "" } }, ["sms"])).to.deep.equal([
      { field: "contents.de", message: "has no text" },
    ]);
    expect(emptyTexts({ contents: { en: "" }, sms_media_urls: ["https://shop.example/a.jpg"] }, ["sms"])).to.deep.equal(
      [],
    );
  });
});
