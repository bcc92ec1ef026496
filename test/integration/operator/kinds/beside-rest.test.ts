import { expect } from "chai";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import type { TemplateRow } from "#core/storage/templates/templates.ts";
import { type Api, type Call, startApi } from "../../../support/api/api.ts";
import { anApiKey, seed } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

const vapid = (byte: number) => Buffer.alloc(32, byte).toString("base64url");
const web = (byte: number) => ({
  settings: { subject: "mailto:push@example.com" },
  secrets: { private_key: vapid(byte) },
});

describe("operator and apiserver, both running: who owns a member", () => {
  let herald: Installation;
  let api: Api;
  let make: ReturnType<typeof manifests>;
  let token: string;
  let appId: string;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    const plan = make.plan();
    for (const object of [make.namespace, plan, make.tenant(), make.iosSecret(), make.app()])
      await herald.apply(object);
    await herald.start();
    appId = (await herald.ready(make.app())).status?.id ?? "";
    const app = (await herald.db.collection<AppRow>("apps").findOne({ _id: appId }))!;
    const key = anApiKey({ tenant_id: app.tenant_id, scopes: ["admin"] });
    await seed(herald.db, { apiKeys: [key.row] });
    token = key.token;
    const at = { name: herald.id, database: herald.db.databaseName };
    api = await startApi(herald.servers, at, { HERALD_KEY_RING: herald.settings.keyRing });
  });
  after(async () => {
    await api?.process.kill();
    await herald.close();
  });

  const call = (method: string, path: string, body?: Call["body"]) =>
    api.call(method, `/v1/apps/${appId}${path}`, { token, body });
  const expectManaged = async (reply: ReturnType<typeof call>, member?: string) => {
    const { status, body, text } = await reply;
    expect([status, body.error?.details["member"]], text).to.deep.equal([409, member]);
  };
  const expectTaken = async (reply: ReturnType<typeof call>) => {
    const { status, text } = await reply;
    expect(status, text).to.be.below(300);
  };
  /** The resource names what REST has set otherwise: it asks for consent, and then it has it. */
  const takeOver = async (object: Manifest, id: string, member: string) => {
    await herald.ready(object, "False", "AdoptionNotConfirmed");
    expect((await herald.conditionOf(object, "Ready"))?.message).to.contain(member);
    await herald.patch(object, { metadata: { annotations: { "herald.dev/adopt": id } } });
    await herald.ready(object);
  };

  it("settings: first the resource, then REST", async () => {
    await herald.patch(make.app(), { spec: { settings: { outcomes: { directMinutes: 60 } } } });
    await herald.ready(make.app());
    await expectManaged(call("PATCH", "/settings", { outcomes: { direct_minutes: 30 } }), "outcomes");
    await expectTaken(call("PATCH", "/settings", { exempt_categories: ["codes"] }));
    expect((await call("GET", "/settings")).body).to.deep.include({ exempt_categories: ["codes"] });
  });

  it("settings: first REST, then the resource, with consent", async () => {
    await herald.patch(make.app(), { spec: { settings: { exemptCategories: ["alarms"] } } });
    await takeOver(make.app(), appId, "settings.exemptCategories");
    expect((await call("GET", "/settings")).body).to.deep.include({ exempt_categories: ["alarms"] });
    await expectManaged(call("PATCH", "/settings", { exempt_categories: [] }), "exempt_categories");
  });

  it("channels: REST has those that the resource does not name", async () => {
    await expectManaged(call("DELETE", "/channels/ios_push"), "channels.ios_push");
    await expectTaken(call("PUT", "/channels/web_push", web(7)));
    await herald.patch(make.app(), { spec: { settings: { localTimeMissed: "skip" } } }); // a pass of the resource
    await until(async () => (await call("GET", "/settings")).body["local_time_missed"] === "skip", 30_000);
    const { data } = (await call("GET", "/channels")).body;
    expect(data.map(({ channel }) => channel)).to.have.members(["ios_push", "web_push"]);
  });

  it("channels: a resource that names one of REST's takes it over, with consent, and gives it back", async () => {
    await herald.patch(make.app(), { metadata: { annotations: { "herald.dev/adopt": null } } });
    await herald.apply(make.secret("web", { private_key: vapid(8) }));
    const named = { subject: "mailto:push@example.com", secretRef: { name: "web" } };
    await herald.patch(make.app(), { spec: { channels: { web: named } } });
    await takeOver(make.app(), appId, "channels.web");
    await expectManaged(call("PUT", "/channels/web_push", web(7)), "channels.web_push");
    await herald.patch(make.app(), { spec: { channels: { web: null } } });
    await until(async () => (await call("GET", "/channels/web_push")).status === 404, 30_000);
    await expectTaken(call("PUT", "/channels/web_push", web(7)));
  });

  it("segments: what the resource leaves out is REST's, until it names it", async () => {
    await herald.apply(make.segment());
    const id = (await herald.ready(make.segment())).status?.id ?? "";
    const row = () => herald.db.collection<SegmentRow>("segments").findOne({ _id: id });
    await expectManaged(call("PATCH", `/segments/${id}`, { name: "Other" }), "name");
    const filter = { all: [{ field: "tags.plan", op: "eq", value: "tin" }] };
    await expectManaged(call("PATCH", `/segments/${id}`, { filter, description: "x" }), "filter");
    await expectTaken(call("PATCH", `/segments/${id}`, { description: "by REST" }));
    await herald.patch(make.segment(), { spec: { name: "Renamed" } });
    await until(async () => (await row())?.name === "Renamed", 30_000);
    expect((await row())?.description).to.equal("by REST");
    await herald.patch(make.segment(), { spec: { description: "by git" } });
    await takeOver(make.segment(), id, "description");
    await expectManaged(call("PATCH", `/segments/${id}`, { description: "x" }), "description");
    await herald.patch(make.segment(), { spec: { description: null } });
    await until(async () => (await row())?.description === null, 30_000);
  });

  it("templates: first REST, then a resource that takes it over and leaves out what is REST's", async () => {
    const content = { contents: { en: "Hello" } };
    const made = await call("POST", "/templates", { name: "By REST", description: "by REST", content });
    const id = made.body.id;
    const template = make.template({ name: "By REST", externalName: id, content: { contents: { en: "Hi" } } });
    await herald.apply(template);
    await herald.ready(template, "False", "AdoptionNotConfirmed");
    await herald.patch(template, { metadata: { annotations: { "herald.dev/adopt": id } } });
    await herald.ready(template);
    const row = await herald.db.collection<TemplateRow>("templates").findOne({ _id: id });
    expect(row).to.deep.include({ description: "by REST", content: { contents: { en: "Hi" } } });
    await expectManaged(call("PATCH", `/templates/${id}`, { content }), "content");
    await expectManaged(call("DELETE", `/templates/${id}`));
    await expectTaken(call("PATCH", `/templates/${id}`, { description: "again" }));
  });

  it("templates: REST publishes what the resource leaves a draft", async () => {
    const draft = make.template({ name: "Draft", publish: false }, "draft");
    await herald.apply(draft);
    const id = (await herald.ready(draft)).status?.id ?? "";
    await expectTaken(call("POST", `/templates/${id}/publish`, {}));
    await herald.patch(draft, { spec: { publish: true } });
    await herald.ready(draft);
    await herald.patch(draft, { spec: { content: { contents: { en: "Another" } } } });
    await until(async () => (await call("GET", `/templates/${id}`)).body["published_version"] === 2, 30_000);
  });

  it("templates and segments that wait for something of REST's go on once it is there", async () => {
    const waiting = make.template({ name: "Waits", content: { contents: { en: '{% render "greeting" %}' } } }, "waits");
    await herald.apply(waiting);
    await herald.ready(waiting, "False", "TemplateInvalid");
    const naming = make.segment(
      { name: "Names", filter: { all: [{ field: "segment", op: "member", value: "later" }] } },
      "names",
    );
    await herald.apply(naming);
    await herald.ready(naming, "False", "FilterInvalid");
    const partial = { name: "greeting", kind: "partial", content: { contents: { en: "Hello" } } };
    const { body } = await call("POST", "/templates", partial);
    const published = Date.now();
    await expectTaken(call("POST", `/templates/${body.id}/publish`, {}));
    await herald.ready(waiting);
    expect(Date.now() - published).to.be.below(20_000); // it looks again by itself after 30 s
    await expectTaken(call("POST", "/segments", { name: "later", kind: "list" }));
    await herald.ready(naming);
  });
});
