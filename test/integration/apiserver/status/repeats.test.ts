import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { IncidentRow } from "#core/storage/status/incidents.ts";
import { useSite } from "../../../support/api/site.ts";

describe("what is told of an incident with an idempotency key", () => {
  const { site, tenant } = useSite({ HERALD_OPERATING_TENANT: "operations" }, { tenant: { name: "operations" } });

  const post = async (path: string, body: object, key: string) => {
    const headers = { "Idempotency-Key": key };
    const {
      status,
      body: reply,
      headers: said,
    } = await site.api.call("POST", path, { token: tenant.token, body, headers });
    return { status, reply, isReplayed: said.get("Idempotent-Replayed") === "true" };
  };
  const incident = { title: "Late", severity: "minor", components: ["delivery"], message: "We look into it." };
  const incidents = () => site.db.collection<IncidentRow>("incidents");
  /** Has the newest request look as if its process had been killed before it could answer. */
  const cutShort = async () => {
    const [newest] = await site.db.collection("idempotent_replies").find().sort({ created_at: -1 }).limit(1).toArray();
    const cut = { reply: null, held_until: new Date(Date.now() - 1) };
    await site.db.collection("idempotent_replies").updateOne(newest ?? {}, { $set: cut });
  };

  for (const [what, begin] of [
    ["an incident", async () => ({ path: "/v1/incidents", body: incident })],
    [
      "an update",
      async () => {
        const { reply } = await post("/v1/incidents", incident, randomUUID());
        return { path: `/v1/incidents/${reply.id}/updates`, body: { status: "monitoring", message: "It is mended." } };
      },
    ],
  ] as const) {
    it(`is told once: ${what}, also when the first attempt was cut short`, async () => {
      const [{ path, body }, key] = [await begin(), randomUUID()];
      const first = await post(path, body, key);
      expect([first.status, first.isReplayed]).to.deep.equal([201, false]);
      const again = await post(path, body, key);
      expect(again).to.deep.equal({ ...first, isReplayed: true });
      await cutShort();
      expect((await post(path, body, key)).reply).to.deep.equal(first.reply);
      const made = await incidents().find().sort({ _id: -1 }).limit(2).toArray();
      expect(made.filter(({ _id }) => _id === first.reply.id)).to.have.length(1);
      expect(made[0]?.updates).to.have.length(path.endsWith("updates") ? 2 : 1);
      const other = await post(path, body, randomUUID());
      expect([other.status, other.isReplayed]).to.deep.equal([201, false]);
    });
  }
});
