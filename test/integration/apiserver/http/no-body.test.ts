import { expect } from "chai";
import { type Call } from "../../../support/api/api.ts";
import { nested } from "../../../support/api/reply.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anEnvelope, aWebhookDelivery } from "../../../support/rows/webhook-deliveries.ts";

describe("a POST that takes no body", () => {
  const { site, tenant } = useSharedSite();
  let endpoint: string;
  let delivery: string;

  before(async () => {
    const wanted = { url: "https://hooks.example.com/in", events: ["delivery.sent"] };
    endpoint = (await call("", { body: wanted })).body.id;
    const row = aWebhookDelivery(anEnvelope({ app_id: tenant.app._id }), {
      tenant_id: tenant.tenant._id,
      endpoint_id: endpoint,
    });
    delivery = row._id;
    await site.db.collection<typeof row>("webhook_deliveries").insertOne(row);
  });

  const call = (path: string, more: Call) =>
    site.api.call("POST", `/v1/apps/${tenant.app._id}/webhooks${path}`, { token: tenant.token, ...more });
  const rotate = (more: Call) => call(`/${endpoint}/rotate-secret`, more);
  const json = { "Content-Type": "application/json" };

  for (const [it_, path, body, field] of [
    ["rotate-secret", () => `/${endpoint}/rotate-secret`, { overlap_hours: 0 }, "overlap_hours"],
    ["test", () => `/${endpoint}/test`, { event_type: "user.created" }, "event_type"],
    ["replay", () => `/deliveries/${delivery}/replay`, { force: true }, "force"],
  ] as const) {
    it(`refuses each member by name: ${it_}`, async () => {
      const reply = await call(path(), { body });
      expect([reply.status, reply.body.error.code]).to.deep.equal([400, "HS_VALIDATION_ERROR"]);
      expect(reply.body.error.details["field"]).to.equal(field);
    });
  }

  for (const [it_, more] of [
    ["nothing", {}],
    ["nothing of a type", { headers: json }],
    ["an empty object", { body: {} }],
  ] as [string, Call][]) {
    it(`takes ${it_}`, async () => expect((await rotate(more)).status).to.equal(200));
  }

  for (const [it_, more, status] of [
    ["a list", { body: [] }, 400],
    ["null", { raw: "null", headers: json }, 400],
    ["what is no JSON", { raw: "{", headers: json }, 400],
    ["what is too deep", { raw: nested(21), headers: json }, 400],
    ["a form", { raw: "a=1", headers: { "Content-Type": "application/x-www-form-urlencoded" } }, 415],
    ["what is too large", { raw: JSON.stringify({ a: "x".repeat(2 * 1024 * 1024) }), headers: json }, 413],
  ] as [string, Call, number][]) {
    it(`refuses ${it_} as every operation does: ${status}`, async () =>
      expect((await rotate(more)).status).to.equal(status));
  }
});
