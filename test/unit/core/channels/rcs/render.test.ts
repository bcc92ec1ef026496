import { expect } from "chai";
import { renderRcs } from "#core/channels/rcs/render.ts";
import type { Content } from "#core/schema/messages/notification.ts";

const render = (content: Content, language: string | null = "en") =>
  renderRcs({ messageId: "msg_1", content, options: {}, language, ttlSeconds: 600 });

const postback = { postback_data: "chosen" };

describe("an RCS message", () => {
  it("is a text, by RCS alone", () => {
    expect(render({ contents: { en: "Hello", de: "Hallo" } }, "de")).to.deep.equal({
      body: { kind: "text", text: "Hallo" },
      fallsBack: false,
      ttlSeconds: 600,
    });
  });

  it("is a card with what an SMS says instead", () => {
    const content: Content = {
      rcs_card: {
        title: { en: "Order", de: "Bestellung" },
        description: { en: "On its way" },
        media_url: "https://shop.example/a.jpg",
      },
      rcs_fallback_text: { en: "See shop.example", de: "Siehe shop.example" },
    };
    expect(render(content, "de-AT")).to.deep.equal({
      body: {
        kind: "template",
        language: "de",
        types: {
          "twilio/card": { title: "Bestellung", body: "On its way", media: ["https://shop.example/a.jpg"] },
          "twilio/text": { body: "Siehe shop.example" },
        },
      },
      fallsBack: true,
      ttlSeconds: 600,
    });
  });

  it("is a text with suggestions, which has the form of a card", () => {
    const content: Content = {
      contents: { en: "Shall we?" },
      rcs_suggestions: [{ type: "reply", text: "Yes", ...postback }],
    };
    const actions = [{ type: "QUICK_REPLY", title: "Yes", id: "chosen" }];
    const types = { "twilio/card": { body: "Shall we?", actions } };
    expect(render(content, null).body).to.deep.equal({ kind: "template", language: "en", types });
  });

  it("names a template of the account's own, which has its own fallback", () => {
    const content = { rcs_content_sid: "HX1", rcs_content_variables: { "1": "Ada" } };
    expect(render(content)).to.deep.include({
      body: { kind: "content", sid: "HX1", variables: { "1": "Ada" } },
      fallsBack: true,
    });
  });

  const suggestions: { suggestion: NonNullable<Content["rcs_suggestions"]>[number]; action: object }[] = [
    { suggestion: { type: "request_location", text: "Where?", ...postback }, action: { type: "QUICK_REPLY" } },
    {
      suggestion: { type: "dial", text: "Call", ...postback, phone_number: "+4915112345678" },
      action: { type: "PHONE_NUMBER", phone: "+4915112345678" },
    },
    {
      suggestion: { type: "open_url", text: "Open", ...postback, url: "https://shop.example/", view: "webview_half" },
      action: { type: "URL", url: "https://shop.example/", webview_size: "HALF" },
    },
    {
      suggestion: { type: "open_url", text: "Open", ...postback, url: "https://shop.example/" },
      action: { type: "URL", url: "https://shop.example/", webview_size: "NONE" },
    },
    {
      suggestion: { type: "view_location", text: "Shop", ...postback, latitude: 52.5, longitude: 13.4, label: "Shop" },
      action: { type: "URL", url: "https://www.google.com/maps/search/?api=1&query=52.5%2C13.4" },
    },
    {
      suggestion: { type: "view_location", text: "Shop", ...postback, query: "shop near me" },
      action: { type: "URL", url: "https://www.google.com/maps/search/?api=1&query=shop+near+me" },
    },
    {
      suggestion: {
        type: "create_calendar_event",
        text: "Save",
        ...postback,
        title: "Delivery",
        start: "2026-11-22T12:00:00+01:00",
        end: "2026-11-22T12:30:00Z",
      },
      action: {
        type: "URL",
        url: "https://calendar.google.com/calendar/render?action=TEMPLATE&text=Delivery&dates=20261122T110000Z%2F20261122T123000Z",
      },
    },
  ];
  for (const { suggestion, action } of suggestions) {
    it(`makes an action of ${suggestion.type} ${JSON.stringify(action)}`, () => {
      const { body } = render({ contents: { en: "Hi" }, rcs_suggestions: [suggestion] });
      const made = body.kind === "template" ? body.types["twilio/card"].actions?.[0] : undefined;
      expect(made).to.include({ title: suggestion.text, id: "chosen", ...action });
    });
  }
});
