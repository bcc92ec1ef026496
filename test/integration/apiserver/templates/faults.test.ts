import { expect } from "chai";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { hello, templateCalls } from "../../../support/api/templates.ts";

describe("faults of templates", () => {
  const { site, tenant } = useSharedSite();
  const { ok, made, published, refused } = templateCalls(site, tenant);

  describe("are refused, with the member, line and column", () => {
    const cases: { it: string; content: object; kind?: string; field: string; message: string }[] = [
      {
        it: "for a tag that there is not",
        content: { headings: { de: "Hallo\n  {% include 'x' %}" } },
        field: "content.headings.de",
        message: 'line 2, column 3: tag "include" not found',
      },
      {
        it: "for a filter that there is not, in an address of a button",
        content: { ...hello, buttons: [{ id: "a", text: "A", url: "https://x.test/{{ user.id | eval }}" }] },
        field: "content.buttons[0].url",
        message: "line 1, column 16: undefined filter: eval",
      },
      {
        it: "for a loop that does not end",
        content: { email_subject: "a", email_body: "<p>\n\n{% for i in custom_data.items %}{{ i }}</p>" },
        field: "content.email_body",
        message: "line 3, column 1: tag {% for i in custom_data.items %} not closed",
      },
      {
        it: "for a partial that a value names",
        content: { contents: { en: "{% render custom_data.partial %}" } },
        field: "content.contents.en",
        message: "line 1, column 1: render names its partial in quotes",
      },
      {
        it: "for a partial that renders another one",
        kind: "partial",
        content: { contents: { en: "a {% render 'other' %}" } },
        field: "content.contents.en",
        message: "line 1, column 3: a partial cannot render another one",
      },
    ];
    for (const { it: name, content, kind = "message", field, message } of cases)
      it(name, async () => {
        const found = { status: 400, code: "HS_VALIDATION_ERROR", field, message };
        expect(await refused("POST", "", { name: "bad", kind, content })).to.include(found);
        const { id, version } = await published({ kind });
        expect(await refused("PATCH", `/${id}`, { content })).to.include(found);
        expect(await ok("GET", `/${id}`)).to.deep.include({ version, content: hello });
      });

    it("when they are published, for MJML and for partials that there are not", async () => {
      const mjml = await made({
        content: { email_subject: "a", email_mjml: "<mjml><mj-body>\n <mj-nope/></mj-body></mjml>" },
      });
      const email = await refused("POST", `/${mjml.id}/publish`);
      expect(email).to.include({ status: 400, field: "content.email_mjml" });
      expect(email.message).to.match(/^line 2, column 2: Element mj-nope/);
      const lost = await made({ content: { contents: { en: "{% render 'nowhere' %}" } } });
      expect(await refused("POST", `/${lost.id}/publish`)).to.include({
        field: "content.contents.en",
        message: 'line 1, column 1: there is no published partial "nowhere"',
      });
      expect(await ok("GET", `/${lost.id}`)).to.include({ status: "draft", published_version: null });
      expect(
        await site.db.collection("template_versions").countDocuments({ template_id: { $in: [mjml.id, lost.id] } }),
      ).to.equal(0);
    });
  });

  it("refuse what no message could say", async () => {
    for (const [content, field] of [
      [{ nope: "a" }, "content.nope"],
      [{ url: "no address" }, "content.url"],
      [{ contents: { "not a language": "a" } }, "content.contents.not a language"],
    ] as const)
      expect(await refused("POST", "", { name: "bad", content })).to.include({ status: 400, field });
    const partial = { name: "bad", kind: "partial", content: { ...hello, email_subject: "a" } };
    expect(await refused("POST", "", partial)).to.include({ field: "content.email_subject" });
    const empty = await made({ content: {} });
    expect(await refused("POST", `/${empty.id}/publish`)).to.include({ field: "content", message: "says nothing" });
  });
});
