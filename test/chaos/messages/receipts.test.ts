import { expect } from "chai";
import { quarterMs } from "#core/domain/durations.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { expectCountersAreExact } from "../../support/analytics/counters.ts";
import { seedMails } from "../../support/callbacks/deliveries.ts";
import { signedMailgun } from "../../support/callbacks/signed.ts";
import { allAccounts, testKeyRing } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { inSuite, testTiming } from "../../support/suite/soak.ts";
import { type Sending, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

/** Until JetStream hands out again what a killed dispatcher had; a busy machine takes its time. */
const takenOverMs = testTiming.ackWaitMs + testTiming.leaseMs + 90_000;
const [kills, mailsPerKill] = inSuite([3, 60], { soak: [20, 5_000] });
const atOnce = 10; // of the provider's connections
/** Quarters with 25,000 deliveries are counted again after a pause. */
const pace = { withinMs: inSuite(30_000, { soak: 600_000 }), paceMs: inSuite(200, { soak: 5_000 }) };
const signingKey = "chaos-signing-key";

describe("dispatchers that are killed while receipts come", function () {
  this.timeout(inSuite(300_000, { soak: 3_600_000 }));
  let sending: Sending;
  let api: SystemProgram;
  let dispatchers: SystemProgram[];

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    const appId = system.app._id;
    const signing_key = keyRing(testKeyRing).seal(signingKey, `apps/${appId}/email.mailgun.signing_key`);
    const email = { ...allAccounts(appId).email, mailgun: { signing_key } };
    await system.db.collection<AppRow>("apps").updateOne({ _id: appId }, { $set: { "channels.email": email } });
    [api, ...dispatchers] = await Promise.all([
      system.start("apiserver"),
      system.start("dispatcher"),
      system.start("dispatcher"),
    ]);
  });
  after(() => sending?.close());

  it("leave counters of deliveries that differ in nothing from a recount", async () => {
    const { db, app, tenantId } = sending.system;
    const rows = db.collection<DeliveryRow>(deliveryCollection.name);
    const { mails } = await seedMails(db, { tenant_id: tenantId, app_id: app._id }, kills * mailsPerKill);
    const begun = Date.now() - 4 * quarterMs; // four quarters change at once
    for (const quarter of [1, 2, 3]) {
      const ids = mails.filter((_, n) => n % 4 === quarter).map(({ delivery }) => delivery._id);
      const made = new Date(begun + quarter * quarterMs);
      await rows.updateMany({ _id: { $in: ids } }, { $set: { created_at: made } });
    }
    const tell = async ({ delivery, subscription }: (typeof mails)[number], event: "delivered" | "opened") => {
      const message = { headers: { "message-id": `${delivery._id}@shop.example` } };
      const told = { event, timestamp: Date.now() / 1_000, recipient: subscription.token, message };
      const { headers, body } = signedMailgun(told, { key: signingKey });
      const reply = await fetch(`${api.url}/ingress/mailgun/${app._id}`, { method: "POST", headers, body });
      expect(reply.status).to.equal(200);
    };
    const isAt = (status: DeliveryRow["status"]) => rows.countDocuments({ app_id: app._id, status });
    for (let kill = 0; kill < kills; kill++) {
      const before = await isAt("opened");
      const some = mails.slice(kill * mailsPerKill, (kill + 1) * mailsPerKill);
      for (let n = 0; n < some.length; n += atOnce)
        await Promise.all(
          some.slice(n, n + atOnce).map(async (mail) => {
            await tell(mail, "delivered");
            await tell(mail, "opened");
          }),
        );
      await until(async () => (await isAt("opened")) > before, takenOverMs); // in the middle of its work
      const one = dispatchers[kill % dispatchers.length];
      await one?.kill();
      await one?.restart();
    }
    await until(async () => (await isAt("opened")) === mails.length, takenOverMs);
    await expectCountersAreExact(db, app._id, pace);
  });
});
