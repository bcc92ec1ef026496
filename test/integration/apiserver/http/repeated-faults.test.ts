import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { useSharedSite } from "../../../support/api/shared-site.ts";

describe("a body under a used idempotency key", () => {
  const { site, tenant } = useSharedSite();
  const post = (path: string, body: object, key: string) =>
    site.api.call("POST", `/v1/apps/${tenant.app._id}${path}`, {
      token: tenant.token,
      body,
      headers: { "Idempotency-Key": key },
    });
  const endpoint = { url: "https://hooks.example.com/in", events: ["delivery.sent"] };
  const filters = { match: "all", conditions: [{ field: "name", op: "matches_event" }] };
  const schema = { type: "object", properties: { status: { type: "string" } } };

  for (const [what, path, good, bad, field] of [
    ["a filter whose op has no value", "/webhooks", endpoint, { ...endpoint, filters }, "filters.conditions[0].op"],
    ["an id that faulty programs send", "/users", { external_id: "u1" }, { external_id: "null" }, "external_id"],
    [
      "an address that is none",
      "/users/by/external_id/u1/subscriptions",
      { channel: "email", token: "u1@example.com" },
      { channel: "email", token: "u1" },
      "token",
    ],
    [
      "a filter of another type",
      "/exports",
      { type: "users" },
      { type: "users", filters: { channel: "sms" } },
      "filters.channel",
    ],
    [
      "a schema that is none",
      "/live-activities/types",
      { name: "Match", content_state_schema: schema },
      { name: "Match", content_state_schema: { ...schema, required: ["goals"] } },
      "content_state_schema.required[0]",
    ],
  ] as const) {
    it(`is judged before the first reply is given again: ${what}`, async () => {
      const key = randomUUID();
      const first = await post(path, good, key);
      expect(first.status, first.text).to.be.below(300);
      const refused = await post(path, bad, key);
      expect([refused.status, refused.body.error?.details["field"]], refused.text).to.deep.equal([400, field]);
      expect((await post(path, good, key)).headers.get("Idempotent-Replayed")).to.equal("true");
    });
  }
});
