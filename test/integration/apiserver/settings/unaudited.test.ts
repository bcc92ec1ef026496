import { expect } from "chai";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";

const wanted = { url: "https://hooks.example.com/in", events: ["delivery.sent"] };
const schema = { type: "object", properties: {} };

describe("a change whose event cannot be stored", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, ...(body && { body }) });
  const stored = (name: string) =>
    site.db
      .collection(name)
      .find({}, { sort: { _id: 1 } })
      .toArray();

  /** Runs something while no event of a change can be stored: an index of places takes no id. */
  const withoutEvents = async (run: () => Promise<void>): Promise<void> => {
    const batches = site.db.collection("event_batches");
    const fromNowOn = { partialFilterExpression: { created_at: { $gt: new Date() } } };
    const index = await batches.createIndex({ "change.document_id": "2dsphere" }, fromNowOn);
    try {
      await run();
    } finally {
      await batches.dropIndex(index);
    }
  };

  it("is not made", async () => {
    const { id } = (await call("POST", "/webhooks", wanted)).body;
    const { id: typeId } = (await call("POST", "/live-activities/types", { name: "A", content_state_schema: schema }))
      .body;
    const { id: segmentId } = (await call("POST", "/segments", { name: "A", kind: "list" })).body;
    const all = async () => Promise.all(["webhooks", "live_activity_types", "segments"].map(stored));
    const before = await all();
    await withoutEvents(async () => {
      for (const [method, path, body] of [
        ["POST", "/webhooks", wanted],
        ["PATCH", `/webhooks/${id}`, { paused: true }],
        ["POST", `/webhooks/${id}/rotate-secret`],
        ["DELETE", `/webhooks/${id}`],
        ["POST", "/live-activities/types", { name: "B", content_state_schema: schema }],
        ["PATCH", `/live-activities/types/${typeId}`, { description: "b" }],
        ["DELETE", `/live-activities/types/${typeId}`],
        ["POST", "/segments", { name: "B", filter: { all: [] } }],
        ["PATCH", `/segments/${segmentId}`, { name: "C" }],
        ["DELETE", `/segments/${segmentId}`],
      ] as const) {
        expect((await call(method, path, body)).status, `${method} ${path}`).to.equal(500);
      }
    });
    expect(await all()).to.deep.equal(before);
  });

  it("leaves the secret that receivers know valid for a day after the next rotation", async () => {
    const rows = site.db.collection<WebhookRow>("webhooks");
    const { id } = (await call("POST", "/webhooks", wanted)).body;
    const known = (await rows.findOne({ _id: id }))?.secret;
    await withoutEvents(async () => {
      expect((await call("POST", `/webhooks/${id}/rotate-secret`)).status).to.equal(500);
    });
    const { status } = await call("POST", `/webhooks/${id}/rotate-secret`);
    const previous = (await rows.findOne({ _id: id }))?.previous_secret;
    expect([status, previous?.secret]).to.deep.equal([200, known]);
    expect((previous?.expires_at.getTime() ?? 0) - Date.now()).to.be.within(86_300_000, 86_400_000);
  });
});
