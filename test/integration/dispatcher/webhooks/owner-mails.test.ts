import { expect } from "chai";
import { dayMs } from "#core/domain/durations.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import {
  type WebhookDeliveryRow,
  webhookDeliveries,
  webhookDeliveryCollection,
} from "#core/storage/webhooks/deliveries.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { selfSigned } from "../../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../../dev/simulators/kit/control.ts";
import { startSmtp } from "../../../../dev/simulators/smtp.ts";
import { deliveryOf, written } from "../../../../dispatcher/webhooks/accept/delivery.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { type Sending, startSending } from "../../../support/system/sending.ts";
import { until } from "../../../support/until.ts";

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);

describe("a dispatcher that has a mail server", () => {
  let sending: Sending;
  let smtp: Simulator;

  before(async () => {
    [sending, smtp] = await Promise.all([
      startSending(await testServers(), {}),
      startSmtp({ port: 0, tls: selfSigned() }),
    ]);
  });

  after(async () => {
    await sending?.close();
    await smtp?.stop();
  });

  it("disables what has been failing for 14 days, ends what waits for it, and mails the owner", async () => {
    const { db, app, tenantId, start } = sending.system;
    const since = daysAgo(15);
    const endpoint = aWebhook({
      tenant_id: tenantId,
      app_id: app._id,
      status: "failing",
      failing_since: since,
      failure_count: 40,
      notified: "week",
    });
    const waiting = deliveryOf(endpoint, written({ ...anEvent, app_id: app._id }), since);
    await db
      .collection<{ _id: string }>("tenants")
      .updateOne({ _id: tenantId }, { $set: { contact_email: "anna@shop.example" } });
    const endpoints = collectionOf<WebhookRow>(db, webhookCollection);
    await endpoints.insertOne(endpoint);
    await webhookDeliveries(db).keep([
      { ...waiting, status: "failed", attempt: 6, due_at: new Date(Date.now() + 3_600_000) },
    ]);

    const dispatcher = await start("dispatcher", {
      HERALD_MAIL_URL: `${smtp.url}?tls.rejectUnauthorized=false`,
      HERALD_MAIL_FROM: "herald@example.com",
    });

    const noted = async () => (await endpoints.findOne({ _id: endpoint._id }))?.notified;
    const end = async () =>
      await collectionOf<WebhookDeliveryRow>(db, webhookDeliveryCollection).findOne({ _id: waiting._id });
    await until(async () => (await noted()) === "disabled");
    await until(async () => (await end())?.status === "dead");
    expect(await end()).to.include({ error: "endpoint disabled", due_at: null, attempt: 6 });
    expect(smtp.log.page().map(({ address }) => address)).to.deep.equal(["anna@shop.example"]);
    expect(smtp.log.page()[0]?.body).to.include("Webhook was disabled");
    const facts = { endpoint: endpoint._id, notice: "disabled" };
    const line = async () =>
      (await dispatcher.log()).find(({ msg, event }) => [msg, event].includes("webhook.owner_mailed"));
    await until(async () => (await line()) !== undefined);
    expect(await line()).to.include(facts);
  });
});

const anEvent = {
  id: "evt_01K0000000000000000000000A",
  type: "delivery.sent",
  timestamp: daysAgo(15).toISOString(),
  app_id: "app_1",
  subject_id: "dlv_1",
  api_version: "1.0",
  data: {},
} as const;
