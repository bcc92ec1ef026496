import { expect } from "chai";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { type WebhookDeliveryRow, webhookDeliveryCollection } from "#core/storage/webhooks/deliveries.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { testKeyRing } from "../../support/rows/fixtures.ts";
import { aWebhook } from "../../support/rows/webhooks.ts";
import { testServers } from "../../support/servers/servers.ts";
import { aToken, type Sending, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

describe("a user who is deleted", function () {
  this.timeout(90_000);
  let sending: Sending;
  let api: SystemProgram;

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    const secret = keyRing(testKeyRing).seal(
      `whsec_${Buffer.alloc(32, 5).toString("base64")}`,
      "webhooks/whk_1/secret",
    );
    const webhook = aWebhook({
      tenant_id: system.tenantId,
      app_id: system.app._id,
      url: "http://127.0.0.1:9/", // nobody listens: deliveries wait for their next request
      secret,
      events: ["user.created", "subscription.created", "message.queued", "delivery.sent", "user.deleted"],
    });
    await system.db.collection<WebhookRow>(webhookCollection.name).insertOne(webhook);
    const env = { HERALD_ALLOWED_RANGES: "127.0.0.0/8" };
    [api] = await Promise.all([system.start("apiserver", env), system.start("dispatcher", env)]);
  });
  after(() => sending?.close());

  const ask = async (method: string, path: string, body?: object): Promise<void> => {
    const reply = await fetch(`${api.url}/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${sending.system.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(reply.ok, await reply.text()).to.equal(true);
  };
  const history = () =>
    sending.system.db.collection<WebhookDeliveryRow>(webhookDeliveryCollection.name).find().toArray();

  it("leaves no trace in the history of webhooks but the news of it, and no other's history changes", async () => {
    const users = `apps/${sending.system.app._id}/users`;
    const token = aToken();
    const [gone, kept] = ["erased-person", "another-person"];
    for (const external_id of [gone, kept]) {
      const subscriptions = [{ channel: "ios_push", token: external_id === gone ? token : aToken() }];
      await ask("POST", users, { external_id, tags: { note: `tag of ${external_id}` }, subscriptions });
      await ask("POST", "notifications", {
        app_id: sending.system.app._id,
        target: { include_external_ids: [external_id] },
        contents: { en: "Hi" },
      });
    }
    const about = async (person: string) => (await history()).filter(({ payload }) => payload.includes(person));
    await until(async () => (await about(gone)).length === 4 && (await about(kept)).length === 4, 20_000);
    await ask("DELETE", `${users}/by/external_id/${gone}`);

    const traces = async () => (await history()).filter((row) => JSON.stringify(row).includes(gone));
    const isNews = ({ event_type }: WebhookDeliveryRow): boolean => event_type === "user.deleted";
    await until(async () => (await history()).some(isNews) && (await traces()).every(isNews), 20_000);
    const rows = await history();
    expect(rows.filter(({ payload }) => payload.includes('"erased":true'))).to.have.length(4);
    expect(JSON.stringify(rows)).not.to.include(token.slice(-8));
    expect(await about(kept)).to.have.length(4);
  });
});
