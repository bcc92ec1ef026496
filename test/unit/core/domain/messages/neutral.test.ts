import { expect } from "chai";
import { meantBy, saidIn } from "#core/domain/messages/neutral.ts";
import type { Content } from "#core/schema/messages/notification.ts";

describe("saidIn", () => {
  for (const { it: name, content, said } of [
    {
      it: "a button has no address when it is empty",
      content: { buttons: [{ id: "a", text: "b", url: "" as const, icon: "" as const }] },
      said: { buttons: [{ id: "a", text: "b" }] },
    },
    { it: "a card of nothing is none", content: { rcs_card: { title: {}, media_url: "" as const } }, said: {} },
    {
      it: "what is said in a language stays, also the empty text",
      content: { contents: { en: "" }, data: { a: "" } },
      said: { contents: { en: "" }, data: { a: "" } },
    },
    {
      it: "a text that shows nothing is the empty one",
      content: {
        headings: { en: "\u200b", de: " a " },
        rcs_card: { title: { en: " " }, description: { en: "x" } },
        email_subject: "\t",
        email_body: "b",
      },
      said: {
        headings: { en: "", de: " a " },
        rcs_card: { title: { en: "" }, description: { en: "x" } },
        email_subject: "",
        email_body: "b",
      },
    },
    { it: "silence stays", content: { ios_sound: "", android_sound: "" }, said: { ios_sound: "", android_sound: "" } },
    {
      it: "numbers that say something at 0 stay",
      content: { ios_badge_count: 0, ios_relevance_score: 0, android_visibility: 0 as const },
      said: { ios_badge_count: 0, ios_relevance_score: 0, android_visibility: 0 },
    },
    {
      it: "an empty half of a mail stays",
      content: { email_subject: "", email_body: "b" },
      said: { email_subject: "", email_body: "b" },
    },
    {
      it: "an empty body does not stand beside MJML",
      content: { email_subject: "s", email_body: "", email_mjml: "<mjml/>" },
      said: { email_subject: "s", email_mjml: "<mjml/>" },
    },
    {
      it: "a template of WhatsApp keeps an empty parameter and its first button",
      content: {
        whatsapp_template: {
          name: "a",
          language: "en",
          body_params: [""],
          button_params: [{ index: 0, sub_type: "url" as const, value: "v" }],
        },
      },
      said: {
        whatsapp_template: {
          name: "a",
          language: "en",
          body_params: [""],
          button_params: [{ index: 0, sub_type: "url", value: "v" }],
        },
      },
    },
    {
      it: "a place on the equator stays, and is none by an empty query",
      content: {
        rcs_suggestions: [
          { type: "view_location" as const, text: "t", postback_data: "p", latitude: 0, longitude: 0, query: "" },
        ],
      },
      said: { rcs_suggestions: [{ type: "view_location", text: "t", postback_data: "p", latitude: 0, longitude: 0 }] },
    },
  ] satisfies { it: string; content: Content; said: unknown }[]) {
    it(name, () => expect(saidIn(content)).to.deep.equal(said));
  }
});

describe("meantBy", () => {
  it("keeps an empty list of ids, which selects nobody, and no label without ids", () => {
    const target = { include_external_ids: [], include_aliases: { crm: [], erp: ["1"] }, included_segments: [] };
    expect(meantBy(target)).to.deep.equal({ include_external_ids: [], include_aliases: { erp: ["1"] } });
  });
});
