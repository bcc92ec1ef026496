import { expect } from "chai";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { testServers } from "../../support/servers/servers.ts";
import {
  aToken,
  deliveriesOf,
  post,
  type Sending,
  send,
  startMail,
  startSending,
} from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";

const endsMs = 25_000;

describe("a message that takes a template", () => {
  let sending: Sending;
  let api: SystemProgram;
  let mail: Simulator;
  let n = 0;

  before(async () => {
    sending = await startSending(await testServers());
    mail = await startMail(sending.system);
    [api] = await Promise.all([sending.system.start("apiserver"), sending.system.start("dispatcher")]);
  });
  after(async () => {
    await sending?.close();
    await mail?.stop();
  });

  const ask = async (method: string, path: string, body?: object) => {
    const { app, token } = sending.system;
    const reply = await fetch(`${api.url}/v1/apps/${app._id}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const said = (await reply.json()) as { id: string };
    expect(reply.ok, JSON.stringify(said)).to.equal(true);
    return said;
  };
  const published = async (content: object, over: object = {}): Promise<string> => {
    const { id } = await ask("POST", "/templates", { name: `template ${++n}`, content, ...over });
    await ask("POST", `/templates/${id}/publish`);
    return id;
  };
  /** Somebody with a device and an address of mail. */
  const person = async (name: string, over: object = {}) => {
    const of = { external_id: `${name}-${++n}`, device: aToken(), address: `mail${n}@example.test` };
    const subscriptions = [
      { channel: "ios_push", token: of.device },
      { channel: "email", token: of.address },
    ];
    await ask("POST", "/users", { external_id: of.external_id, tags: { name }, subscriptions, ...over });
    return of;
  };
  type Of = Awaited<ReturnType<typeof person>>;
  const sent = async (of: readonly Of[], message: object): Promise<string> => {
    const target = {
      include_external_ids: of.map(({ external_id: id }) => id),
      ...("channels" in message && { channels: message.channels }),
    };
    const { channels: _, ...body } = { channels: null, ...message };
    const id = await send(sending.system, api, { contents: undefined, ...body, target });
    await sending.system.ended(id, endsMs);
    return id;
  };
  const alertOf = ({ device }: Of): unknown => {
    const entry = sending.apns.log.page().findLast(({ address }) => address === device);
    return (JSON.parse(entry?.body ?? "{}") as { aps?: { alert?: { body?: string } } }).aps?.alert?.body;
  };
  const mailOf = ({ address }: Of) => {
    const entry = mail.log.page().findLast((one) => one.address === address);
    const { html = "", subject = "" } = JSON.parse(entry?.body ?? "{}") as { html?: string; subject?: string };
    return { html, subject };
  };
  const results = async (id: string) =>
    (await deliveriesOf(sending.system, id)).map((row) => ({
      status: row.status,
      reason: row.suppression_reason ?? row.error_code ?? null,
      said: row.error_message ?? null,
    }));

  it("says what the template says with the data of each recipient, in their language", async () => {
    const [ann, bea] = [await person("Ann"), await person("Bea", { language: "de", properties: { city: "Bern" } })];
    const footer = {
      name: "sign",
      kind: "partial",
      content: { contents: { en: "by {{ app.name }}", de: "von {{ app.name }}" } },
    };
    const { id: partial } = await ask("POST", "/templates", footer);
    await ask("POST", `/templates/${partial}/publish`);
    const contents = {
      en: '{{ user.tags.name }}, {{ user.properties.city | default: "home" }}: {{ custom_data.order }} {% render "sign" %}',
      de: "{{ user.tags.name }} aus {{ user.properties.city }}: {{ custom_data.order }} {% render 'sign' %}",
    };
    const templateId = await published({ contents }, { channels: ["ios_push"] });
    const { name } = sending.system.app;
    const id = await sent([ann, bea], { template_id: templateId, custom_data: { order: "4711" } });
    expect([alertOf(ann), alertOf(bea)]).to.deep.equal([
      `Ann, home: 4711 by ${name}`,
      `Bea aus Bern: 4711 von ${name}`,
    ]);
    const { token, app } = sending.system;
    const shown = async (path: string) =>
      (await (await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).json()) as Record<
        string,
        unknown
      >;
    const message = await shown(`/v1/notifications/${id}`);
    expect(message).to.deep.include({
      template_id: templateId,
      template_version: 1,
      content: { custom_data: { order: "4711" } },
    });
    expect(message["counts"]).to.include({ targeted: 2, sent: 2 });
    const { data } = await shown(`/v1/notifications?app_id=${app._id}&template_id=${templateId}`);
    expect((data as { id: string }[]).map((one) => one.id)).to.deep.equal([id]);
  });

  it("is a mail of MJML whose values are escaped, in loops, too", async () => {
    const ann = await person("<Ann>");
    const section = (text: string) => `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;
    const loop = "{% for one in custom_data.items %}[{{ one.name }}]{% endfor %}";
    const templateId = await published({
      email_subject: "For {{ user.tags.name }}",
      email_mjml: `<mjml><mj-body>${section(`Hello {{ user.tags.name }} ${loop}`)}</mj-body></mjml>`,
    });
    await sent([ann], { template_id: templateId, custom_data: { items: [{ name: "a" }, { name: "b&c" }] } });
    const { html, subject } = mailOf(ann);
    expect(subject).to.equal("For <Ann>");
    expect(html)
      .to.match(/<!doctype html>/i)
      .and.contain("Hello &lt;Ann&gt; [a][b&amp;c]");
  });

  it("says its own in the place of the template's, and is judged as a whole", async () => {
    const ann = await person("Ann");
    const templateId = await published({ headings: { en: "Old" }, contents: { en: "{{ user.tags.name }}", de: "de" } });
    await sent([ann], { template_id: templateId, contents: { en: "New for {{ user.tags.name }}" } });
    expect(alertOf(ann)).to.equal("New for Ann");
    const half = await published({ email_subject: "For {{ user.tags.name }}" });
    const { system } = sending;
    const target = { include_external_ids: [ann.external_id] };
    const refused = async (body: object) => {
      const { status, body: said } = await post(system, api, { contents: undefined, target, ...body });
      const { error } = said as { error: { details: { field: string; message: string } } };
      return { status, field: error.details.field, message: error.details.message };
    };
    expect(await refused({ template_id: half })).to.include({ status: 400, field: "email_body" });
    await sent([ann], { template_id: half, email_body: "<p>{{ user.tags.name }}</p>" });
    expect(mailOf(ann).html).to.contain("<p>Ann</p>");
    expect(await refused({ template_id: half, email_body: "a\n{{ b | nope }}" })).to.deep.equal({
      status: 400,
      field: "email_body",
      message: "line 2, column 1: undefined filter: nope",
    });
    expect(await refused({ template_id: "tpl_nobody" })).to.include({ status: 400, field: "template_id" });
    const templates = system.db.collection<{ _id: string }>("templates");
    const foreign = { ...(await templates.findOne({ _id: templateId })), _id: `${templateId}X`, app_id: "app_other" };
    await templates.insertOne(foreign);
    expect(await refused({ template_id: foreign._id })).to.include({ status: 400, field: "template_id" });
    const { id: draft } = await ask("POST", "/templates", { name: "draft", content: { contents: { en: "a" } } });
    expect(await refused({ template_id: draft })).to.include({
      field: "template_id",
      message: "names a template that is not published",
    });
    expect(await refused({ contents: { en: "a" }, custom_data: { a: 1 } })).to.include({ field: "custom_data" });
    const much = { template_id: templateId, custom_data: { a: "x".repeat(65_536) } };
    expect(await refused(much)).to.include({ status: 400, field: "custom_data" });
  });

  it("passes over whom the template aborts for, and fails for whom it cannot be rendered", async () => {
    const people = [await person("Ann"), await person("Out"), await person("Slow")];
    const en =
      '{% if user.tags.name == "Out" %}{% abort "not for Out" %}{% endif %}' +
      '{% if user.tags.name == "Slow" %}{% for i in (1..1000) %}{% for j in (1..1000) %}{% for k in (1..1000) %}{% endfor %}{% endfor %}{% endfor %}{% endif %}' +
      "Hello {{ user.tags.name }}";
    const templateId = await published({ contents: { en } }, { channels: ["ios_push"] });
    const id = await sent(people, { template_id: templateId });
    expect(people.map(alertOf)).to.deep.equal(["Hello Ann", undefined, undefined]);
    expect(await results(id)).to.have.deep.members([
      { status: "sent", reason: null, said: null },
      { status: "suppressed", reason: "template_abort", said: "not for Out" },
      {
        status: "errored",
        reason: "TEMPLATE_RENDER_FAILED",
        said: "content, line 1, column 1: takes longer than 50 ms",
      },
    ]);
  });

  it("keeps the version of its accept, also when the template is changed or removed before it is sent", async () => {
    const ann = await person("Ann");
    const templateId = await published(
      { contents: { en: "first for {{ user.tags.name }}" } },
      { channels: ["ios_push"] },
    );
    const target = { include_external_ids: [ann.external_id] };
    const later = new Date(Date.now() + 2_000).toISOString();
    const id = await send(sending.system, api, {
      contents: undefined,
      target,
      template_id: templateId,
      send_after: later,
    });
    await ask("PATCH", `/templates/${templateId}`, { content: { contents: { en: "second" } } });
    await ask("POST", `/templates/${templateId}/publish`);
    await ask("DELETE", `/templates/${templateId}?force=true`);
    await sending.system.ended(id, endsMs);
    expect(alertOf(ann)).to.equal("first for Ann");
  });
});
