import { expect } from "chai";
import { renderTwilioWhatsapp, twilioProblems } from "#core/channels/whatsapp/twilio-render.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import type { ReplyContent } from "#core/schema/messages/reply-content.ts";

const of = (content: Content & ReplyContent) =>
  renderTwilioWhatsapp({ messageId: "msg_1", options: {}, language: "en-GB", ttlSeconds: 60, content });
const contents = { en: "Which?" };
const buttons = [{ id: "r", title: "Red" }];

describe("what WhatsApp over Twilio is sent", () => {
  const cases: { it: string; content: Content & ReplyContent; becomes: object }[] = [
    { it: "a text", content: { contents }, becomes: { kind: "said", members: [["Body", "Which?"]] } },
    {
      it: "a sound, which has no caption",
      content: { whatsapp_media: { type: "audio", url: "https://a.example/a.mp3" } },
      becomes: { kind: "said", members: [["MediaUrl", "https://a.example/a.mp3"]] },
    },
    {
      it: "a place without a name",
      content: { whatsapp_reply: { location: { latitude: 1, longitude: -2.5 } } },
      becomes: {
        kind: "said",
        members: [
          ["Body", "geo:1.000000,-2.500000"],
          ["PersistentAction", "geo:1.000000,-2.500000"],
        ],
      },
    },
    {
      it: "buttons",
      content: { contents, whatsapp_interactive: { type: "button", buttons } },
      becomes: {
        kind: "template",
        language: "en",
        types: { "twilio/quick-reply": { body: "Which?", actions: [{ id: "r", title: "Red" }] } },
      },
    },
    {
      it: "a template whose values are numbered through: body, header, buttons by their index",
      content: {
        whatsapp_template: {
          name: "sale",
          language: "en",
          header: { type: "image", url: "https://a.example/a.jpg" },
          body_params: ["Ada"],
          button_params: [
            { index: 1, sub_type: "copy_code", value: "TEN" },
            { index: 0, sub_type: "url", value: "a" },
          ],
        },
      },
      becomes: {
        kind: "approved",
        name: "sale",
        variables: { "1": "Ada", "2": "https://a.example/a.jpg", "3": "a", "4": "TEN" },
      },
    },
    {
      it: "nothing of what it does not carry, which says why",
      content: { contents, whatsapp_interactive: { type: "button", footer: "F", buttons } },
      becomes: { kind: "refused", reason: "whatsapp_interactive.footer is not carried over Twilio" },
    },
  ];
  for (const { it: what, content, becomes } of cases)
    it(`is ${what}`, () => {
      expect(of(content)).to.deep.include(becomes);
    });

  it("is no text that Twilio would read a variable in", () => {
    const { field } = twilioProblems({
      contents: { en: "Hi {{1}}" },
      whatsapp_interactive: { type: "button", buttons },
    })[0] ?? { field: "" };
    expect(field).to.equal("contents.en");
    expect(twilioProblems({ contents: { en: "Hi {{1}}" } })).to.deep.equal([]);
  });
});
