import { expect } from "chai";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import type { TemplateRow } from "#core/storage/templates/templates.ts";
import type { TemplateVersionRow } from "#core/storage/templates/versions.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { hello, templateCalls } from "../../../support/api/templates.ts";
import { until } from "../../../support/until.ts";

describe("templates", () => {
  const { site, tenant } = useSharedSite();
  const heard: string[] = [];
  let nats: Nats;

  before(async () => {
    nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
    nats.nc.subscribe(`${site.name}.>`, { callback: (_, message) => void heard.push(message.string()) });
    await nats.nc.flush();
  });
  after(() => nats.close());

  const { call, ok, made, published, refused } = templateCalls(site, tenant);
  const rows = () => site.db.collection<TemplateRow>("templates");
  const versions = () => site.db.collection<TemplateVersionRow>("template_versions");

  it("begin as a draft of version 1", async () => {
    const { id, created_at: at, ...rest } = await made({ name: "first" });
    expect(id).to.match(/^tpl_/);
    expect(rest).to.deep.equal({
      app_id: tenant.app._id,
      name: "first",
      kind: "message",
      description: null,
      channels: null,
      version: 1,
      status: "draft",
      published_version: null,
      managed: null,
      updated_at: at,
      content: hello,
      used_by: [],
    });
    expect(await ok("GET", `/${id}`)).to.deep.equal({ id, created_at: at, ...rest });
  });

  it("keep what was published while a draft changes, until that is published too", async () => {
    const { id } = await published({ channels: ["ios_push"] });
    const draft = await ok("PATCH", `/${id}`, { content: { contents: { en: "Bye" } } });
    expect(draft).to.deep.include({
      version: 2,
      status: "draft",
      published_version: 1,
      content: { contents: { en: "Bye" } },
    });
    expect(await ok("PATCH", `/${id}`, { channels: ["sms"] })).to.include({ version: 2, status: "draft" });
    expect((await ok("GET", `/${id}/versions/1`)).content).to.deep.equal(hello);
    expect((await call("GET", `/${id}/versions/2`)).status).to.equal(404);
    expect(await ok("POST", `/${id}/publish`)).to.include({ version: 2, status: "published", published_version: 2 });
    const list = await ok("GET", `/${id}/versions`);
    expect(list.data.map(({ version, channels }) => ({ version, channels }))).to.deep.equal([
      { version: 2, channels: ["sms"] },
      { version: 1, channels: ["ios_push"] },
    ]);
    const first = await ok("GET", `/${id}/versions?limit=1`);
    const second = await ok("GET", `/${id}/versions?limit=1&cursor=${first.next_cursor}`);
    expect([first.has_more, second.data[0]?.version, second.has_more]).to.deep.equal([true, 1, false]);
  });

  it("stay published when only their name or note changes, or nothing does", async () => {
    const { id } = await published();
    const changed = await ok("PATCH", `/${id}`, { name: "another", description: "a note", content: hello });
    expect(changed).to.include({ version: 1, status: "published", name: "another", description: "a note" });
    expect(await ok("POST", `/${id}/publish`)).to.include({ version: 1, updated_at: changed.updated_at });
  });

  it("are listed by name or by when they were made, a page at a time, without what they say", async () => {
    for (const name of ["list-b", "list-a", "list-c"]) await made({ name, kind: "partial" });
    const pages = async (sort: string): Promise<string[]> => {
      const names: string[] = [];
      for (let next = ""; ; ) {
        const page = await ok("GET", `?kind=partial&limit=2&sort=${sort}${next}`);
        expect(page.data.every((one) => !("content" in one))).to.equal(true);
        names.push(...page.data.map(({ name }) => String(name)).filter((name) => name.startsWith("list-")));
        if (page.next_cursor === null) return names;
        next = `&cursor=${page.next_cursor}`;
      }
    };
    expect(await pages("name")).to.deep.equal(["list-a", "list-b", "list-c"]);
    expect(await pages("-name")).to.deep.equal(["list-c", "list-b", "list-a"]);
    expect(await pages("created_at")).to.deep.equal(["list-b", "list-a", "list-c"]);
    expect(await pages("-created_at")).to.deep.equal(["list-c", "list-a", "list-b"]);
  });

  it("have a name of their own", async () => {
    const [one, other] = [await made(), await made()];
    const taken = { status: 409, code: "HS_ALREADY_EXISTS", field: "name", id: one.id };
    expect(await refused("POST", "", { name: one.name, content: hello })).to.deep.equal(taken);
    expect(await refused("PATCH", `/${other.id}`, { name: one.name })).to.deep.equal(taken);
    expect((await ok("GET", `/${other.id}`)).name).to.equal(other.name);
  });

  it("keep the partials that they render as they were when they were published", async () => {
    const footer = await published({ name: "footer", kind: "partial", content: { contents: { en: "old" } } });
    const content = { contents: { en: "Hello {% render 'footer' %}" } };
    const { id } = await published({ content });
    await ok("PATCH", `/${footer.id}`, { content: { contents: { en: "new" } } });
    await ok("POST", `/${footer.id}/publish`);
    const { partials } = await ok("GET", `/${id}/versions/1`);
    expect(partials).to.deep.equal([{ name: "footer", id: footer.id, version: 1 }]);
    expect((await versions().findOne({ _id: `${id}/1` }))?.partials[0]?.contents).to.deep.equal({ en: "old" });

    const used = { status: 409, code: "HS_CONFLICT", used_by: [{ type: "template", id }] };
    expect((await ok("GET", `/${footer.id}`)).used_by).to.deep.equal(used.used_by);
    const refusal = await call("DELETE", `/${footer.id}`);
    expect([refusal.status, refusal.body.error.details]).to.deep.equal([
      409,
      { status: "in_use", used_by: used.used_by },
    ]);
    await ok("DELETE", `/${footer.id}?force=true`);
    expect((await versions().findOne({ _id: `${id}/1` }))?.partials[0]?.contents).to.deep.equal({ en: "old" });
    const again = await ok("PATCH", `/${id}`, { content: { contents: { en: "Bye {% render 'footer' %}" } } });
    expect((await refused("POST", `/${again.id}/publish`)).message).to.contain('no published partial "footer"');
  });

  it("leave their versions to the messages that took them when they are removed", async () => {
    const { id } = await published();
    expect(await ok("DELETE", `/${id}`)).to.deep.equal({ ok: true });
    expect((await call("GET", `/${id}`)).status).to.equal(404);
    expect((await call("GET", `/${id}/versions/1`)).status).to.equal(404);
    const kept = await versions().findOne({ _id: `${id}/1` });
    expect(kept?.expires_at?.getTime()).to.be.greaterThan(Date.now() + 393 * 86_400_000);
  });

  it("of which a message waits for its time are deleted by force alone, and that is announced", async () => {
    const { id } = await published();
    const send_after = new Date(Date.now() + 3_600_000).toISOString();
    const message = { app_id: tenant.app._id, target: { all: true }, template_id: id, send_after };
    const isAnnounced = () =>
      heard.some((text) => text.includes('"collection":"templates"') && text.includes(`"id":"${id}"`));
    await until(isAnnounced); // that it was published
    heard.length = 0;
    const { body: waiting } = await site.api.call("POST", "/v1/notifications", { token: tenant.token, body: message });
    await until(isAnnounced);
    const used_by = [{ type: "message", id: waiting.id }];
    expect((await ok("GET", `/${id}`)).used_by).to.deep.equal(used_by);
    const { status, body } = await call("DELETE", `/${id}`);
    expect([status, body.error.details]).to.deep.equal([409, { status: "in_use", used_by }]);
    heard.length = 0;
    await site.api.call("DELETE", `/v1/notifications/${waiting.id}`, { token: tenant.token });
    await until(isAnnounced);
    expect(await ok("DELETE", `/${id}`)).to.deep.equal({ ok: true });
  });

  it("keep a hundred versions, and those before them as long as messages may need them", async () => {
    const { id } = await published();
    const [version] = await versions()
      .find({ _id: `${id}/1` })
      .toArray();
    if (version === undefined) throw new Error("not published");
    const others = Array.from({ length: 99 }, (_, i) => ({ ...version, _id: `${id}/${i + 2}`, version: i + 2 }));
    await versions().insertMany(others);
    await rows().updateOne({ _id: id }, { $set: { version: 101, published_version: 100 } });
    await ok("POST", `/${id}/publish`);
    const ending = await versions()
      .find({ template_id: id, expires_at: { $ne: null } })
      .toArray();
    expect(ending.map(({ version: number }) => number)).to.deep.equal([1]);
  });

  it("publish what a later draft says, although an attempt with an earlier one was cut short", async () => {
    const { id } = await published();
    await ok("PATCH", `/${id}`, { content: { contents: { en: "cut" } } });
    const [first, draft] = await Promise.all([versions().findOne({ _id: `${id}/1` }), rows().findOne({ _id: id })]);
    if (first === null || draft === null) throw new Error("not there");
    const cut = { ...first, _id: `${id}/2`, version: 2, content: draft.content, draft_at: draft.updated_at };
    await versions().insertOne(cut);
    expect((await ok("GET", `/${id}/versions`)).data.map(({ version }) => version)).to.deep.equal([1]);
    await ok("PATCH", `/${id}`, { content: { contents: { en: "whole" } } });
    await ok("POST", `/${id}/publish`);
    expect((await ok("GET", `/${id}/versions/2`)).content).to.deep.equal({ contents: { en: "whole" } });
  });

  it("become one version of one draft, however many publish and change it at once", async () => {
    const { id } = await published();
    const texts = Array.from({ length: 4 }, (_, i) => `text ${i}`);
    const replies = await Promise.all(
      texts.flatMap((en) => [
        call("PATCH", `/${id}`, { content: { contents: { en } } }),
        call("POST", `/${id}/publish`),
      ]),
    );
    expect(replies.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).to.deep.equal([]);
    const { published_version: newest, version, content } = await ok("POST", `/${id}/publish`);
    expect(version).to.equal(newest);
    expect((await ok("GET", `/${id}/versions/${Number(newest)}`)).content).to.deep.equal(content);
    const all = await ok("GET", `/${id}/versions`);
    expect(all.data.map((one) => one.version)).to.deep.equal(
      Array.from({ length: Number(newest) }, (_, i) => Number(newest) - i),
    );
  });

  it("are their resource's to change while it enforces them", async () => {
    const { id } = await published();
    const managed = {
      kind: "Template",
      namespace: "shop",
      name: "hello",
      uid: "u-1",
      policy: "Enforce",
      deletion: "Delete",
      epoch: 1,
    } as const;
    await rows().updateOne({ _id: id }, { $set: { managed } });
    expect((await ok("GET", `/${id}`)).managed).to.deep.equal({ kind: "Template", namespace: "shop", name: "hello" });
    for (const [method, path, body] of [
      ["PATCH", `/${id}`, { description: "b" }],
      ["DELETE", `/${id}`],
    ] as const)
      expect(await refused(method, path, body)).to.include({ status: 409, code: "HS_MANAGED", kind: "Template" });
  });

  it("are at most 5,000 of an app", async () => {
    const [row] = await rows().find({ app_id: tenant.app._id }).limit(1).toArray();
    if (row === undefined) throw new Error("none was made");
    const fillers = Array.from({ length: 5_000 }, (_, i) => ({
      ...row,
      _id: `tpl_filler${i}`,
      name: `filler${i}`,
      content: {},
    }));
    await rows().insertMany(fillers);
    const { status, body } = await call("POST", "", { name: "beyond", content: hello });
    expect([status, body.error.code]).to.deep.equal([429, "HS_QUOTA_EXCEEDED"]);
    expect(body.error.details).to.include({ metric: "templates", limit: 5_000 });
    await rows().deleteMany({ _id: /^tpl_filler/ });
    expect(await rows().countDocuments({ name: "beyond" })).to.equal(0);
  });

  it("are reported when they change, by a hash of what they say", async () => {
    const { id } = await published();
    await ok("PATCH", `/${id}`, { content: { contents: { en: "not for the event" } } });
    const found = () => heard.filter((text) => text.includes(id)).join();
    await until(() => found().includes("template.updated"));
    expect(found()).to.contain("template.created").and.contain("template.published");
    expect(found()).to.contain("content_sha256").and.not.contain("not for the event");
  });
});
