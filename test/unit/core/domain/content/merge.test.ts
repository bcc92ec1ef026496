import { expect } from "chai";
import { inLanguage } from "#core/domain/content/localise.ts";
import { mergedContent } from "#core/domain/content/merge.ts";
import { saidWith, templateIn } from "#core/domain/content/taken.ts";
import type { Content } from "#core/schema/messages/notification.ts";

describe("the content of a message with a template", () => {
  const cases: { it: string; own: Content; template: Content; merged: Content }[] = [
    { it: "is the template's", own: {}, template: { url: "https://a.test" }, merged: { url: "https://a.test" } },
    {
      it: "is the message's, member by member",
      own: { url: "https://b.test", buttons: [] },
      template: { url: "https://a.test", thread_id: "t", buttons: [{ id: "a", text: "A" }] },
      merged: { url: "https://b.test", thread_id: "t", buttons: [] },
    },
    {
      it: "has the texts of both by language, and the data of both by name",
      own: { contents: { de: "neu" }, custom_data: { a: 1 } },
      template: { contents: { en: "old", de: "alt" }, custom_data: { a: 0, b: 2 } },
      merged: { contents: { en: "old", de: "neu" }, custom_data: { a: 1, b: 2 } },
    },
    {
      it: "has the message's body in the place of the template's MJML",
      own: { email_body: "b" },
      template: { email_subject: "s", email_mjml: "m" },
      merged: { email_subject: "s", email_body: "b" },
    },
    {
      it: "has the message's MJML in the place of the template's body",
      own: { email_mjml: "m" },
      template: { email_subject: "s", email_body: "b" },
      merged: { email_subject: "s", email_mjml: "m" },
    },
    {
      it: "keeps the template's body where the message's asks for nothing",
      own: { email_mjml: "" },
      template: { email_subject: "s", email_body: "b" },
      merged: { email_subject: "s", email_body: "b", email_mjml: "" },
    },
  ];
  for (const { it: name, own, template, merged } of cases)
    it(name, () => expect(mergedContent(own, template)).to.deep.equal(merged));

  it("has the HTML of whose MJML it says", () => {
    const version = { content: { email_subject: "s", email_mjml: "m" }, email_html: "<template>", partials: [] };
    expect(saidWith({ content: {} }, version)).to.deep.equal({ email_subject: "s", email_body: "<template>" });
    const own = { content: { email_mjml: "own" }, email_html: "<own>" };
    expect(saidWith(own, version)).to.deep.equal({ email_subject: "s", email_body: "<own>" });
    expect(saidWith({ content: { email_body: "b" } }, version)).to.deep.equal({ email_subject: "s", email_body: "b" });
  });

  it("is one text of each map in a language, with the partials in it", () => {
    const texts = { en: "en", de: "de", fr: "fr" };
    const content: Content = {
      headings: texts,
      contents: { fr: "fr" },
      rcs_card: { title: texts, media_url: "https://a.test/b" },
      url: "https://a.test",
    };
    expect(inLanguage(content, "de-CH")).to.deep.equal({
      headings: { en: "de" },
      contents: { en: "fr" },
      rcs_card: { title: { en: "de" }, media_url: "https://a.test/b" },
      url: "https://a.test",
    });
    const version = { content, partials: [{ name: "sign", contents: texts }] };
    expect(templateIn(content, version, null).partials).to.deep.equal({ sign: "en" });
    expect(templateIn(content, version, "fr").partials).to.deep.equal({ sign: "fr" });
  });
});
