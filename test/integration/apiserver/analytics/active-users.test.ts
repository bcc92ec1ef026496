import { expect } from "chai";
import { dayMs, hourMs } from "#core/domain/durations.ts";
import type { Receipt, ReceiptFact } from "#core/domain/messages/receipts.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { Audience } from "#core/schema/analytics/audience.ts";
import { type PeopleReportRow, peopleReportCollection } from "#core/storage/analytics/people-reports.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { sessionMonths } from "#core/storage/people/session-months.ts";
import { receiptApplier } from "../../../../dispatcher/callbacks/applier.ts";
import { suppressions } from "../../../../dispatcher/suppressions/open.ts";
import { countReports } from "../../../support/analytics/people-reports.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aMail, aSentMessage, facts } from "../../../support/callbacks/deliveries.ts";
import { aUser, seed, seedTenant, testKeyRing } from "../../../support/rows/fixtures.ts";
import { aReceived, aRecorder } from "../../../support/system/custom-events.ts";
import { until } from "../../../support/until.ts";

describe("active users of an app", () => {
  const { site } = useSharedSite();
  const plan = { _id: "analytics_active", retention_days: 90, api_rps: 1_000 };
  const clock = { now: () => new Date() };
  const dayStart = Math.floor(Date.now() / dayMs) * dayMs;
  const at = (daysAgo: number, hours = 12): Date => new Date(dayStart - daysAgo * dayMs + hours * hourMs);

  /** What a dispatcher does with receipts. */
  const aDispatcher = (app: AppRow) => {
    const list = suppressions({ db: site.db, secrets: keyRing(testKeyRing), clock, noteDoubted: () => undefined });
    const apply = receiptApplier({ db: site.db, suppressions: list, events: { publish: async () => true }, clock });
    return async (receipts: readonly Receipt[], isRepeated = false) =>
      apply([{ tenantId: app.tenant_id, appId: app._id, receipts, isRepeated }]);
  };

  const anApp = async () => {
    const { app, token } = await seedTenant(site.db, { plan });
    const of = { tenant_id: app.tenant_id, app_id: app._id };
    const message = aSentMessage(of, `msg_${app._id.slice(4)}`, 10);
    await site.db.collection<MessageRow>(messageCollection.name).insertOne(message);
    /** A mail that came to a user at noon. */
    const mailTo = async (user_id: string, sent_at: Date): Promise<DeliveryRow> => {
      const { delivery } = aMail(of, { message_id: message._id, user_id, sent_at, created_at: sent_at });
      await site.db.collection<DeliveryRow>(deliveryCollection.name).insertOne(delivery);
      return delivery;
    };
    const ask = async (): Promise<Audience> => {
      const range = `timezone=UTC&from=${at(3, 0).toISOString()}&to=${at(0, 0).toISOString()}`;
      const path = `/v1/apps/${app._id}/analytics/audience?${range}`;
      let reply = await site.api.call("GET", path, { token });
      const isAnswered = async (): Promise<boolean> => {
        if (reply.status === 429) reply = await site.api.call("GET", path, { token }); // it may be asked five times a second
        return reply.status !== 429;
      };
      await until(isAnswered);
      expect(reply.status).to.equal(200);
      return reply.body as unknown as Audience;
    };
    /** Has them counted as they are stored now. */
    const counted = async () => {
      await ask();
      const rows = site.db.collection<PeopleReportRow>(peopleReportCollection.name);
      await rows.updateMany({ app_id: app._id }, { $set: { due_at: new Date() } });
      await countReports(site.db, app._id);
      const { current, series, complete_from } = await ask();
      return { complete_from, active: current?.active_users, days: series?.map((one) => one.active_users) };
    };
    return { app, of, mailTo, counted };
  };

  const receiptOf = ({ _id }: DeliveryRow, fact: ReceiptFact, when: Date): Receipt => ({
    deliveryId: _id,
    providerId: null,
    address: null,
    at: when,
    ...fact,
  });
  const clickOn = (url: string): ReceiptFact => ({ ...facts.clicked, url });

  it("are those with a session, an open, a click, or an event of a device, each once in an interval, however often it is told", async () => {
    const { app, of, mailTo, counted } = await anApp();
    const [reader, clicker, device, server, merged, ago] = [1, 2, 3, 4, 5, 6].map(() => aUser(of));
    const gone = aUser(of); // deleted: not stored
    if (!reader || !clicker || !device || !server || !merged || !ago) throw new Error("users are missing");
    const both = aUser({ ...of, merged_keys: [`user_id:${merged._id}`] });
    await seed(site.db, { users: [reader, clicker, device, server, both, ago] });
    const [read, clicked, old] = [
      await mailTo(reader._id, at(3)),
      await mailTo(clicker._id, at(3)),
      await mailTo(ago._id, at(25)),
    ];
    const [ofMerged, ofGone] = [await mailTo(merged._id, at(2)), await mailTo(gone._id, at(2))];
    const receipts = [
      receiptOf(read, facts.opened, at(3, 13)),
      receiptOf(read, facts.opened, at(1, 13)), // of an old mail, on another day
      receiptOf(read, facts.opened, at(1, 14)),
      receiptOf(clicked, facts.clicked, at(2, 13)),
      receiptOf(old, facts.opened, at(20)),
      receiptOf(ofMerged, facts.opened, at(2, 15)),
      receiptOf(ofGone, facts.opened, at(2, 15)),
    ];
    const dispatchers = [aDispatcher(app), aDispatcher(app)];
    await Promise.all(dispatchers.map((apply) => apply(receipts)));
    await sessionMonths(site.db).add(both, at(2, 20), new Date()); // they were active by themselves, too
    const { handle } = aRecorder(site.db, { apps: [app] });
    const told = [
      aReceived(app._id, { user_id: device._id, occurred_at: at(1, 8), source: "sdk" }),
      aReceived(app._id, { user_id: device._id, occurred_at: at(1, 9), source: "sdk" }),
      aReceived(app._id, { user_id: server._id, occurred_at: at(1, 8), source: "api" }),
    ];
    await handle(told);
    const all = { active: { dau: 2, wau: 4, mau: 5 }, days: [1, 2, 2] };
    expect(await counted()).to.deep.include(all);
    await Promise.all(dispatchers.map((apply) => apply(receipts, true)));
    await handle(told);
    expect(await counted(), "after all of it has come again").to.deep.include(all);
  });

  it("are not those whose mails programs open, also where a later click shows that", async () => {
    const { app, of, mailTo, counted } = await anApp();
    const [proxied, scanned] = [aUser(of), aUser(of)];
    await seed(site.db, { users: [proxied, scanned] });
    const [first, second] = [await mailTo(proxied._id, at(2)), await mailTo(scanned._id, at(2))];
    const apply = aDispatcher(app);
    const after = (seconds: number): Date => new Date(at(2).getTime() + seconds * 1_000);
    await apply([receiptOf(first, { ...facts.opened, machine: true }, after(1))]);
    await apply([receiptOf(second, clickOn("https://shop.example/1"), after(5))]);
    expect((await counted()).days, "one click may be a person's").to.deep.equal([0, 1, 0]);
    await apply([receiptOf(second, clickOn("https://shop.example/2"), after(6))]);
    expect((await counted()).days).to.deep.equal([0, 0, 0]);
    await apply([receiptOf(second, facts.opened, after(900))]);
    expect((await counted()).days, "they open it themselves").to.deep.equal([0, 1, 0]);
  });

  it("are those of the app alone, and complete from the first session that is kept", async () => {
    const [one, other] = [await anApp(), await anApp()];
    const [user, neighbour] = [aUser(one.of), aUser(other.of)];
    await seed(site.db, { users: [user, neighbour] });
    const delivery = await other.mailTo(neighbour._id, at(2));
    await aDispatcher(other.app)([receiptOf(delivery, facts.opened, at(2, 13))]);
    expect(await one.counted()).to.deep.include({ complete_from: at(3, 0).toISOString(), days: [0, 0, 0] });
    await sessionMonths(site.db).add(user, at(1), at(1));
    expect(await one.counted()).to.deep.include({ complete_from: at(1).toISOString(), days: [0, 0, 1] });
  });
});
