import { expect } from "chai";
import { announcer } from "#core/queue/announce.ts";
import { announceUses } from "#core/queue/announce-uses.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type TemplateRow, templateCollection } from "#core/storage/templates/templates.ts";
import { type TemplateVersionRow, templateVersionCollection } from "#core/storage/templates/versions.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { announcedMs, until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

const mail = (text: string): string =>
  `<mjml>\n  <mj-body>\n    <mj-section><mj-column>\n      ${text}\n    </mj-column></mj-section>\n  </mj-body>\n</mjml>\n`;
const from = (member: string, name: string, key: string) => ({ member, configMapKeyRef: { name, key } });

describe("operator: a Template", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    await herald.start(); // its next resync is ten minutes away
    for (const object of [make.plan(), make.tenant(), make.app({ channels: {} })]) await herald.apply(object);
    await herald.ready(make.app());
  });
  after(() => herald?.close());

  const rows = () => collectionOf<TemplateRow>(herald.db, templateCollection);
  const versions = () => collectionOf<TemplateVersionRow>(herald.db, templateVersionCollection);
  const messageOf = async (object: Manifest): Promise<string> =>
    (await herald.conditionOf(object, "Ready"))?.message ?? "";
  const refusedWith = async (object: Manifest, reason: string): Promise<string> => {
    await herald.ready(object, "False", reason);
    return messageOf(object);
  };
  const remove = async (...objects: Manifest[]): Promise<void> => {
    for (const object of objects) await herald.remove(object);
    for (const object of objects) await herald.gone(object);
  };
  const saying = (en: string) => ({ spec: { content: { contents: { en } } } });

  it("publishes whatever it says, a fault leaves that as it is, and versions outlive it", async () => {
    const template = make.template();
    await herald.apply(template);
    const { status } = await herald.ready(template);
    const id = status?.id ?? "";
    expect(status).to.include({ version: 1, publishedVersion: 1 });
    await herald.patch(template, saying("Hello\n {% if user %}"));
    const said = await refusedWith(template, "TemplateInvalid");
    expect(said).to.match(/^spec\.content\.contents\.en: line 2, column 2: /);
    expect(await rows().findOne({ _id: id })).to.deep.include({ version: 1, published_version: 1 });
    await herald.patch(template, saying("Bye"));
    expect((await herald.ready(template)).status).to.include({ version: 2, publishedVersion: 2 });
    await herald.patch(template, { spec: { description: "No version of it" } });
    expect((await herald.ready(template)).status).to.include({ version: 2, publishedVersion: 2 });
    await remove(template);
    const left = await versions().find({ template_id: id }).sort({ version: 1 }).toArray();
    expect(left.map(({ content }) => content.contents?.["en"])).to.deep.equal(["Hello {{ user.tags.name }}", "Bye"]);
    for (const { expires_at } of left) expect(expires_at).to.be.instanceOf(Date);
  });

  it("is a draft until it is to be published", async () => {
    const template = make.template({ publish: false }, "draft");
    await herald.apply(template);
    const { status } = await herald.ready(template);
    expect(status).to.include({ version: 1 }).and.not.have.property("publishedVersion");
    await herald.patch(template, { spec: { publish: true } });
    await until(async () => (await herald.get(template))?.status?.["publishedVersion"] === 1, 25_000);
    await remove(template);
  });

  it("is refused by the member that has not a content's form", async () => {
    const template = make.template({ content: { contents: { en: 1 }, email_mjml: "<mjml/>" } }, "formless");
    await herald.apply(template);
    expect(await refusedWith(template, "ContentInvalid")).to.match(/^spec\.content\.contents\.en: must be a string/);
    expect(await rows().countDocuments()).to.equal(0);
    await remove(template);
  });

  it("has texts of ConfigMaps, follows their changes within seconds, and finds faults in them by line and column", async () => {
    const contentFrom = [from("email_mjml", "mails", "welcome.mjml")];
    const template = make.template({ content: { email_subject: "Welcome" }, contentFrom }, "mail");
    await herald.apply(template);
    expect(await refusedWith(template, "ConfigMapNotFound")).to.include("ConfigMap mails does not exist");
    await herald.apply(make.configMap("mails", { other: "x" }));
    expect(await refusedWith(template, "ConfigMapKeyMissing")).to.include("no text under welcome.mjml");
    const changed = (text: string) =>
      herald.patch(make.configMap("mails", {}), { data: { "welcome.mjml": mail(text) } });
    await changed("<mj-text>Hello</mj-text>");
    const { status } = await herald.ready(template);
    expect(status).to.include({ publishedVersion: 1 });
    const [first] = await versions()
      .find({ template_id: status?.id ?? "" })
      .toArray();
    expect(first?.email_html).to.include("Hello").and.include("<table");
    for (const [text, fault] of [
      ["<mj-txt>Hello</mj-txt>", "line 4, column 7: "],
      ["<mj-text>{{ user.tags.name | shout }}</mj-text>", "line 4, column 1"],
    ] as const) {
      await changed(text);
      await until(
        async () => (await messageOf(template)).startsWith(`ConfigMap mails, welcome.mjml: ${fault}`),
        15_000,
      );
      await herald.ready(template, "False", "TemplateInvalid");
    }
    await changed("<mj-text>Bye</mj-text>");
    await until(async () => (await herald.get(template))?.status?.["publishedVersion"] === 2, 25_000);
    await remove(template, make.configMap("mails", {}));
  });

  it("says a member once", async () => {
    await herald.apply(make.configMap("twice", { hello: "Hello" }));
    const template = make.template({ contentFrom: [from("contents.en", "twice", "hello")] }, "twice");
    await herald.apply(template);
    expect(await refusedWith(template, "ContentInvalid")).to.include("contents.en stands in spec.content");
    await herald.patch(template, { spec: { contentFrom: [from("contents.de", "twice", "hello")] } });
    await herald.ready(template);
    expect((await rows().findOne())?.content.contents).to.have.keys("en", "de");
    await remove(template, make.configMap("twice", {}));
  });

  it("waits for a partial, which says what renders it", async () => {
    const template = make.template({ content: { contents: { en: 'Hello {% render "Footer" %}' } } }, "renders");
    const partial = make.template({ name: "Footer", kind: "partial", content: { contents: { en: "Bye" } } }, "footer");
    await herald.apply(template);
    expect(await refusedWith(template, "TemplateInvalid")).to.include('there is no published partial "Footer"');
    await herald.apply(partial);
    await herald.ready(partial);
    const { status } = await herald.ready(template);
    const usedBy = async (of: Manifest) => (await herald.get(of))?.status?.["usedBy"];
    await until(async () => (await usedBy(partial)) !== undefined, announcedMs);
    expect(await usedBy(partial)).to.deep.equal([{ type: "template", id: status?.id }]);
    await remove(template);
    await until(async () => (await usedBy(partial)) === undefined, announcedMs);
    await remove(partial);
  });

  it("says which messages of it wait for their time, as soon as one does or does no more", async () => {
    const template = make.template({}, "waited-for");
    await herald.apply(template);
    const { status } = await herald.ready(template);
    const [app_id, template_id] = [String(status?.["appId"]), status?.id ?? ""];
    const usedBy = async () => (await herald.get(template))?.status?.["usedBy"];
    const scheduled_for = new Date("2030-01-01T00:00:00Z");
    const tenant_id = (await rows().findOne({ _id: template_id }))?.tenant_id ?? "";
    const waiting = aMessage({ _id: "msg_waits", app_id, tenant_id, template_id, status: "queued", scheduled_for });
    const messages = collectionOf<MessageRow>(herald.db, messageCollection);
    const announced = announcer({ nats: herald.nats, subjects: subjects(herald.id) });
    await messages.insertOne(waiting);
    announceUses(announced, waiting); // as whoever accepts it does
    await until(async () => (await usedBy()) !== undefined, announcedMs);
    expect(await usedBy()).to.deep.equal([{ type: "message", id: waiting._id }]);
    await messages.deleteOne({ _id: waiting._id });
    announceUses(announced, waiting);
    await until(async () => (await usedBy()) === undefined, announcedMs);
    await remove(template);
  });

  it("takes over one of REST with its draft, but none of the other kind", async () => {
    const first = make.template({ deletionPolicy: "Retain" }, "first");
    await herald.apply(first);
    const id = (await herald.ready(first)).status?.id ?? "";
    await remove(first);
    await rows().updateOne({ _id: id }, { $set: { content: { contents: { en: "REST's" } }, version: 2 } });
    const adopted = (spec: object, name: string): Manifest => {
      const object = make.template({ externalName: id, ...spec }, name);
      return { ...object, metadata: { ...object.metadata, annotations: { "herald.dev/adopt": id } } };
    };
    const partial = adopted({ kind: "partial" }, "partial");
    await herald.apply(partial);
    await herald.ready(partial, "False", "KindDiffers");
    await remove(partial);
    const second = adopted({}, "second");
    await herald.apply(second);
    expect((await herald.ready(second)).status).to.include({ version: 2, publishedVersion: 2 });
    expect((await rows().findOne({ _id: id }))?.content).to.deep.equal({
      contents: { en: "Hello {{ user.tags.name }}" },
    });
    await remove(second);
  });
});
