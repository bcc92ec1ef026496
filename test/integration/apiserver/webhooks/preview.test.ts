import { expect } from "chai";
import { eventKinds } from "#core/schema/events/envelope.ts";
import { tenAMinute, untilLimited } from "../../../support/api/limited.ts";
import { useSite } from "../../../support/api/site.ts";
import { anApp, seed } from "../../../support/rows/fixtures.ts";

describe("a preview of a webhook", () => {
  const { site, tenant } = useSite();

  /** In an app of its own: ten a minute are allowed. */
  const preview = async (body: object, appId?: string) => {
    const app = anApp({ tenant_id: tenant.tenant._id });
    if (appId === undefined) await seed(site.db, { apps: [app] });
    const path = `/v1/apps/${appId ?? app._id}/webhooks/preview`;
    return site.api.call("POST", path, { token: tenant.token, body });
  };

  for (const kind of eventKinds) {
    it(`shows a sample of ${kind}`, async () => {
      const { status, body } = await preview({ event_type: kind });
      expect(status).to.equal(200);
      expect(body).to.deep.include({
        matched: true,
        failed_conditions: [],
        content_type: "application/json",
        error: null,
      });
      expect(JSON.parse(String(body["body"]))).to.deep.equal(body["payload"]);
      expect(body["payload"]).to.deep.include({ type: kind, api_version: "1.0" });
    });
  }

  it("shows the caller's own data, rendered", async () => {
    const { body } = await preview({
      event_type: "event.received",
      data: { name: "purchase", value: 7 },
      body_template: "{{ data.name }}: {{ data.value | times: 2 }}",
      body_content_type: "text/plain",
    });
    expect(body).to.deep.include({ body: "purchase: 14", content_type: "text/plain; charset=utf-8", error: null });
    expect(body["payload"]).to.deep.include({ data: { name: "purchase", value: 7 }, subject_id: null });
  });

  for (const { it: name, template, contentType, code, output = null } of [
    { it: "does not parse", template: "{% if %}", contentType: "application/json", code: "TEMPLATE_SYNTAX" },
    { it: "fails", template: "{{ data.name | nothing_like_it }}", contentType: "text/plain", code: "TEMPLATE_" },
    {
      it: "makes no JSON",
      template: "{{ type }}",
      contentType: "application/json",
      code: "INVALID_JSON",
      output: "user.created",
    },
  ]) {
    it(`tells what is wrong with a template that ${name}, and what it wrote`, async () => {
      const { status, body } = await preview({
        event_type: "user.created",
        body_template: template,
        body_content_type: contentType,
      });
      expect([status, body["body"]]).to.deep.equal([200, output]);
      expect((body["error"] as { code: string }).code).to.include(code);
    });
  }

  it("tells the conditions for which an event would not be sent", async () => {
    const wrong = { field: "data.value", op: "gt", value: 10 };
    const right = { field: "data.name", op: "eq", value: "purchase" };
    const { body } = await preview({
      event_type: "event.received",
      data: { name: "purchase", value: 7 },
      filters: { match: "all", conditions: [right, wrong] },
    });
    expect(body).to.deep.include({ matched: false, failed_conditions: [wrong] });
    expect(body["body"]).to.be.a("string");
  });

  it("shows a batch of delivery events, and no batch of others", async () => {
    const { body } = await preview({ event_type: "delivery.sent", batch: true });
    const payload = body["payload"] as { id: string; type: string; events: { type: string }[] };
    expect([payload.type, payload.id.slice(0, 4)]).to.deep.equal(["batch", "bat_"]);
    expect(payload.events.map(({ type }) => type)).to.deep.equal(["delivery.sent"]);
    expect(JSON.parse(String(body["body"]))).to.deep.equal(payload);
    expect((await preview({ event_type: "user.created", batch: true })).body["payload"]).to.include({
      type: "user.created",
    });
  });

  it("shows a body that was cut to its largest size", async () => {
    const { body } = await preview({ event_type: "event.received", data: { name: "x", text: "é".repeat(32_750) } });
    expect(Buffer.byteLength(String(body["body"]))).to.be.at.most(65_536);
    expect(JSON.parse(String(body["body"]))).to.deep.equal(body["payload"]);
    expect(body["payload"]).to.include({ truncated: true });
  });

  for (const [name, body, field] of [
    ["an unknown kind", { event_type: "user.vanished" }, "event_type"],
    ["no kind", {}, "event_type"],
    ["data that is no map", { event_type: "user.created", data: [] }, "data"],
    ["data above 65,536 bytes", { event_type: "user.created", data: { text: "é".repeat(32_763) } }, "data"],
    [
      "filters that cannot be",
      { event_type: "user.created", filters: { match: "all", conditions: [{ field: "a", op: "gt", value: true }] } },
      "filters.conditions[0].op",
    ],
    ["another member", { event_type: "user.created", url: "https://a.example.com" }, "url"],
  ] as const) {
    it(`is refused for ${name}`, async () => {
      const reply = await preview(body);
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, field]);
    });
  }

  it("is given ten times a minute, by app, and stores nothing", async () => {
    const app = anApp({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apps: [app] });
    const wrong = { match: "all", conditions: [{ field: "a", op: "gt", value: true }] };
    const refused = () => preview({ event_type: "user.created", filters: wrong }, app._id);
    for (let n = 0; n < 12; n++) expect((await refused()).status, "counts for nothing").to.equal(400);
    const limited = (await untilLimited(() => preview({ event_type: "user.created" }, app._id), tenAMinute)).at(-1);
    const headers = ["Retry-After", "X-RateLimit-Reset", "X-RateLimit-Remaining", "X-RateLimit-Limit"];
    const shown = headers.map((name) => limited?.headers.get(name));
    expect(shown).to.deep.equal([shown[0], shown[0], "0", "10"]);
    expect(await site.db.collection("webhook_deliveries").countDocuments({ app_id: app._id })).to.equal(0);
  });
});
