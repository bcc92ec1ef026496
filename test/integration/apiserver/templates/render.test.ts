import { expect } from "chai";
import type { RenderTemplateResult } from "#core/schema/templates/render.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { templateCalls } from "../../../support/api/templates.ts";

describe("the preview of a template", () => {
  const { site, tenant } = useSharedSite();
  const { call, ok, made, published, refused } = templateCalls(site, tenant);

  before(async () => {
    const users = [
      { external_id: "ann", tags: { name: "Ann" }, language: "de" },
      { external_id: "out", tags: { plan: "none" } },
    ];
    const path = `/v1/apps/${tenant.app._id}/users`;
    for (const body of users) await site.api.call("POST", path, { token: tenant.token, body });
  });

  const rendered = async (id: unknown, body: object = {}): Promise<RenderTemplateResult["channels"]> => {
    const { status, body: said } = await call("POST", `/${String(id)}/render`, body);
    expect(status, JSON.stringify(said)).to.equal(200);
    return (said as unknown as RenderTemplateResult).channels;
  };
  const ann = { user: { label: "external_id", id: "ann" } };

  it("is what a person is told in their language, on each channel, with its size", async () => {
    const contents = { en: "Hello {{ user.tags.name }}", de: "Hallo {{ user.tags.name }}, {{ custom_data.order }}" };
    const { id } = await made({ content: { contents, custom_data: { order: "0" } }, channels: ["ios_push", "sms"] });
    const [push, text] = await rendered(id, ann);
    const said = { contents: { en: "Hallo Ann, 0" }, custom_data: { order: "0" } };
    expect(push).to.deep.include({ channel: "ios_push", content: said, limit_bytes: 4096, errors: [], aborted: null });
    expect(push?.bytes).to.be.within(20, 400);
    expect(text).to.deep.include({ channel: "sms", content: said, bytes: null, limit_bytes: null });
    const [english] = await rendered(id, { ...ann, language: "en", channel: "android_push" });
    expect(english).to.deep.include({ channel: "android_push", missing_variables: [] });
    expect(english?.content).to.deep.include({ contents: { en: "Hello Ann" } });
  });

  it("names the values that there are not, those of partials, too", async () => {
    const partial = "{{ custom_data.shop }}{{ who }}{{ custom_data.deep.er }}";
    await published({ name: "sign", kind: "partial", content: { contents: { en: partial } } });
    const en =
      "{{ user.tags.name }}{{ user.tags.nick }}{{ custom_data.items[0].name }}{% for one in custom_data.list %}{{ one.a }}{% endfor %}" +
      "{% render 'sign', who: user.tags.who %}";
    const { id } = await published({ content: { contents: { en } }, channels: ["ios_push"] });
    const [shown] = await rendered(id, {
      ...ann,
      data: { custom_data: { items: [{ name: "a" }], shop: "S" } },
      version: 1,
    });
    expect(shown?.content).to.deep.include({ contents: { en: "AnnaS" } });
    expect(shown?.missing_variables).to.deep.equal([
      "custom_data.deep.er",
      "custom_data.list",
      "user.tags.nick",
      "user.tags.who",
    ]);
  });

  it("is of a draft, or of a version that is asked for", async () => {
    const { id } = await published({
      content: { contents: { en: "first {{ custom_data.a }}" } },
      channels: ["ios_push"],
    });
    await ok("PATCH", `/${id}`, { content: { contents: { en: "second {{ custom_data.a }}" } } });
    const data = { custom_data: { a: 1 } };
    const texts = async (body: object) => (await rendered(id, { data, ...body })).map(({ content }) => content);
    expect(await texts({})).to.deep.equal([{ contents: { en: "second 1" } }]);
    expect(await texts({ version: 1 })).to.deep.equal([{ contents: { en: "first 1" } }]);
    expect(await refused("POST", `/${id}/render`, { version: 2 })).to.include({ status: 400, field: "version" });
  });

  it("says why there is nothing to say: that it aborts, and what is wrong and where", async () => {
    const en = '{% if user.tags.plan == "none" %}{% abort "no plan" %}{% endif %}{% render "missing" %}';
    const { id } = await made({ content: { contents: { en } }, channels: ["ios_push"] });
    const message = 'there is no published partial "missing"';
    const errors = [{ member: "contents.en", line: 1, column: 66, message }];
    expect(await rendered(id, ann)).to.deep.include.members([
      {
        channel: "ios_push",
        content: null,
        bytes: null,
        limit_bytes: 4096,
        missing_variables: [],
        aborted: null,
        errors,
      },
    ]);
    await ok("PATCH", `/${id}`, { content: { contents: { en: en.replace('{% render "missing" %}', "") } } });
    const [aborted] = await rendered(id, { user: { label: "external_id", id: "out" } });
    expect(aborted).to.include({ content: null, aborted: "no plan" });
    const slow = "{% for i in (1..1000) %}".repeat(4) + "{% endfor %}".repeat(4);
    await ok("PATCH", `/${id}`, { content: { contents: { en: slow } } });
    const [late] = await rendered(id, ann);
    expect(late?.errors.map(({ message: said }) => said)).to.deep.equal(["takes longer than 50 ms"]);
  });

  it("has the faults of MJML, and its HTML with values escaped", async () => {
    const mjml = (inside: string) => `<mjml><mj-body>\n${inside}</mj-body></mjml>`;
    const mail = (inside: string) => ({ email_subject: "s", email_mjml: mjml(inside) });
    const { id } = await made({ content: mail("<mj-nope/>") });
    const [bad] = await rendered(id);
    expect(bad).to.deep.include({ channel: "email", content: null });
    expect(bad?.errors[0]).to.include({ member: "email_mjml", line: 2, column: 1 });
    const text = "<mj-section><mj-column><mj-text>{{ custom_data.a }}</mj-text></mj-column></mj-section>";
    await ok("PATCH", `/${id}`, { content: mail(text) });
    const [good] = await rendered(id, { data: { custom_data: { a: "<b>" } } });
    expect(String(good?.content?.["email_body" as never])).to.contain("&lt;b&gt;");
  });

  it("is refused for a person who is not there", async () => {
    const { id } = await made();
    const nobody = { user: { label: "external_id", id: "nobody" } };
    expect(await refused("POST", `/${id}/render`, nobody)).to.include({ status: 400, field: "user" });
  });
});
