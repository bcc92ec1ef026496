import { expect } from "chai";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { eventKinds } from "#core/schema/events/envelope.ts";
import { monthOf } from "#core/storage/messages/usage.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { anApiKey, seed, testKeyRing } from "../../support/rows/fixtures.ts";
import { aWebhook } from "../../support/rows/webhooks.ts";
import { testServers } from "../../support/servers/servers.ts";
import { type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

type Counts = Record<"requests" | "messages" | "deliveries" | "events" | "webhook_requests" | "bytes", number>;
type Shown = {
  tenant_id: string;
  last_hour: Counts;
  this_month: Counts;
  webhook_backlog: number;
  limits: { messages_per_month: { limit: number; used: number } | null };
};

/** An endpoint that wants everything, at an address that is refused: what goes there waits. */
const anEndpoint = ({ tenantId, app }: System): WebhookRow => {
  const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
  return aWebhook({
    tenant_id: tenantId,
    app_id: app._id,
    url: "http://127.0.0.1:9/",
    secret: keyRing(testKeyRing).seal(secret, "webhooks/whk_1/secret"),
    events: [...eventKinds],
    event_names: ["visit"],
  });
};

describe("usage", () => {
  let sending: Sending;
  let system: System;
  let api: SystemProgram;
  let requests = 0;
  const began = new Date();

  before(async () => {
    sending = await startSending(await testServers(), { messages_per_month: 1_000 });
    ({ system } = sending);
    await system.db.collection<WebhookRow>("webhooks").insertOne(anEndpoint(system));
    [api] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
  });
  after(() => sending?.close());

  const ask = async (token: string): Promise<Response> =>
    fetch(`${api.url}/v1/usage`, { headers: { authorization: `Bearer ${token}` } });
  const usage = async (token = system.token): Promise<Shown> => {
    if (token === system.token) requests++;
    return (await (await ask(token)).json()) as Shown; // the API reference's tests check its form
  };
  const deliveries = () => system.db.collection<WebhookDeliveryRow>("webhook_deliveries").find().toArray();
  /** Waits until the figures are as they should be; says which are not. */
  const become = async (expected: () => Promise<object>, seen: () => Promise<object>): Promise<void> => {
    const same = async () => JSON.stringify(await seen()) === JSON.stringify(await expected());
    await until(same, 60_000).catch(async () => expect(await seen()).to.deep.equal(await expected()));
  };

  it("has every message, delivery, event and request to an endpoint, and what waits", async () => {
    const devices = await seedDevices(system, 3);
    const target = { include_subscription_ids: devices.map(({ _id }) => _id) };
    const message = { target, idempotency_key: "once" };
    const id = await send(system, api, message);
    await send(system, api, message); // a repeat
    const visits = JSON.stringify({ events: [{ name: "visit" }, { name: "visit" }] });
    await fetch(`${api.url}/v1/apps/${system.app._id}/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      body: visits,
    });
    requests += 3;
    await system.ended(id, 30_000);
    const sent = JSON.stringify({ app_id: system.app._id, contents: { en: "Hello" }, ...message });
    const bodyBytes = 2 * sent.length + visits.length;

    await until(async () => (await deliveries()).length >= 3 + 2 + 2); // sent, visits, the message's own
    await become(
      async () => {
        const rows = await deliveries();
        const made = rows.reduce((sum, { attempt }) => sum + attempt, 0);
        const bytes = rows.reduce((sum, { attempt, payload }) => sum + attempt * Buffer.byteLength(payload), bodyBytes);
        return { messages: 1, deliveries: 3, events: rows.length, webhook_requests: made, bytes };
      },
      async () => {
        const { requests: _, ...counts } = (await usage()).last_hour;
        return counts;
      },
    );
    await become(
      async () => ({ backlog: (await deliveries()).filter(({ due_at: at }) => at !== null).length }),
      async () => ({ backlog: (await usage()).webhook_backlog }),
    );
    const { tenant_id: tenantId, last_hour: hour, this_month: month, limits } = await usage();
    expect(tenantId).to.equal(system.tenantId);
    if (monthOf(new Date()) === monthOf(began)) expect(month).to.deep.equal(hour); // else a part of it is the former's
    expect(limits.messages_per_month).to.include({ limit: 1_000, used: 3 });
  });

  it("counts each request of the organisation's keys within seconds", async () => {
    const counted = async () =>
      (
        await system.db
          .collection<{ _id: string; requests: number }>("tenant_usage")
          .find({ _id: /^month/ })
          .toArray()
      ).reduce((sum, row) => sum + row.requests, 0); // of two months where one ends meanwhile
    await become(
      async () => ({ requests }),
      async () => ({ requests: await counted() }),
    );
  });

  it("of another organisation is its own", async () => {
    const other = await system.another();
    const shown = await usage(other.token);
    expect(shown.tenant_id).to.equal(other.tenantId);
    expect(shown.last_hour).to.deep.equal(Object.fromEntries(Object.keys(shown.last_hour).map((name) => [name, 0])));
    expect(shown.webhook_backlog).to.equal(0);
  });

  it("is not told to a key for some apps, nor to one that may not read figures", async () => {
    const of = { tenant_id: system.tenantId };
    const keys = [anApiKey({ ...of, app_ids: [system.app._id] }), anApiKey({ ...of, scopes: ["events:write"] })];
    await seed(system.db, { apiKeys: keys.map(({ row }) => row) });
    const refusals = await Promise.all(
      keys.map(async ({ token }) => {
        const reply = await ask(token);
        const { error } = (await reply.json()) as { error: { details: { reason?: string } } }; // as every refusal
        return [reply.status, error.details.reason];
      }),
    );
    expect(refusals).to.deep.equal([
      [403, "key_of_apps"],
      [403, undefined],
    ]);
  });
});
