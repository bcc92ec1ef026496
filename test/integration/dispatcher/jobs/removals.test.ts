import { expect } from "chai";
import type { Db } from "mongodb";
import { makeEvent } from "#core/domain/events/make.ts";
import { subscriptionEvent, userCreated } from "#core/domain/people/events.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { appRemoval } from "#core/storage/apps/removal.ts";
import { allCollections } from "#core/storage/collections.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import { eventBatchCollection, eventBatches } from "#core/storage/events/batches.ts";
import { activityRecipientCollection } from "#core/storage/live-activities/recipient-row.ts";
import { activityRecipients } from "#core/storage/live-activities/recipients.ts";
import { startTokenCollection, startTokens } from "#core/storage/live-activities/start-tokens.ts";
import { collectionOf, ofRow } from "#core/storage/mongo/collection.ts";
import { userRemoval } from "#core/storage/people/removal.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { type DeletionRow, deletionCollection } from "#core/storage/warehouse/deletions.ts";
import { type WebhookDeliveryRow, webhookDeliveryCollection } from "#core/storage/webhooks/deliveries.ts";
import { peopleIn } from "#core/storage/webhooks/people.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { noWork } from "#core/storage/work/due.ts";
import { type RemovalRow, removalCollection, removals, webhookRemoval } from "#core/storage/work/removals.ts";
import { deliveryOf, written } from "../../../../dispatcher/webhooks/accept/delivery.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";
import { aSubscription, aUser } from "../../../support/rows/fixtures.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { usePeopleSite } from "../../../support/system/people.ts";
import { until } from "../../../support/until.ts";

const removalRows = (db: Db) => collectionOf<RemovalRow>(db, removalCollection);
const deliveryRows = (db: Db) => collectionOf<WebhookDeliveryRow>(db, webhookDeliveryCollection);
const userRows = (db: Db) => collectionOf<UserRow>(db, userCollection);
const subscriptionRows = (db: Db) => collectionOf<SubscriptionRow>(db, subscriptionCollection);

const of = { tenant_id: "ten_1", app_id: "app_1" };
const minuteMs = 60_000;
const due = (inMs = -1) => new Date(Date.now() + inMs);

/** The rows of webhooks' history, in the order of what is asked for. */
const webhookRows = (db: () => Db) => ({
  insert: async (rows: readonly WebhookDeliveryRow[]): Promise<void> => {
    await deliveryRows(db()).insertMany([...rows]);
  },
  find: async (wanted: readonly { _id: string }[]): Promise<WebhookDeliveryRow[]> => {
    const ids = wanted.map(({ _id }) => _id);
    const found = await deliveryRows(db())
      .find({ _id: { $in: ids } })
      .toArray();
    return found.sort((a, b) => ids.indexOf(a._id) - ids.indexOf(b._id));
  },
});

describe("the removal of people and apps", () => {
  const site = usePeopleSite();
  const rowOf = (event: EventEnvelope, over: Partial<WebhookDeliveryRow> = {}): WebhookDeliveryRow => ({
    ...deliveryOf({ _id: "whk_1", ...of }, written(event), site.clock.now()),
    ...over,
  });
  const anEvent = (kind: EventEnvelope["type"], subjectId: string | null, data: Record<string, unknown>) =>
    makeEvent({ kind, appId: of.app_id, subjectId, data, at: due(-minuteMs), from: [crypto.randomUUID()] });
  const history = webhookRows(() => site.db);

  /** A person with a history of webhooks, and one that is not to be touched. */
  const aPerson = async () => {
    const externalId = `ext-${crypto.randomUUID()}`;
    const user = aUser({
      ...of,
      external_id: externalId,
      aliases: { crm: `crm-${externalId}` },
      tags: { t: `tag-${externalId}` },
    });
    const mail = `${externalId}@example.com`;
    const device = aSubscription({
      ...of,
      user_id: user._id,
      external_id: externalId,
      channel: "email",
      token: mail,
    });
    await userRows(site.db).insertOne(user);
    await subscriptionRows(site.db).insertOne(device);
    const other = aUser(of);
    const attempt = { at: due(), response_status: 500, duration_ms: 1, error_class: null };
    const echo = { ...attempt, error: `no ${mail}`, response_body_excerpt: `echo ${externalId}` };
    const made = [
      rowOf(userCreated(user), { status: "success", due_at: null, attempts: [echo, echo] }),
      rowOf(subscriptionEvent("subscription.created", device, due(-minuteMs))),
      rowOf(anEvent("event.received", externalId, { user_id: null, external_id: externalId, name: "x" })),
      rowOf(anEvent("event.received", null, { subscription_id: device._id, name: "x", properties: { mail } })),
      rowOf(anEvent("message.queued", "msg_1", { target: { include_external_ids: ["bob", externalId] } })),
      rowOf(anEvent("message.queued", "msg_2", { target: { include_aliases: { crm: [`crm-${externalId}`] } } })),
      rowOf(anEvent("message.queued", "msg_3", { target: { email_to: [mail.toUpperCase()] } })),
      rowOf(anEvent("message.queued", "msg_4", { target: { include_subscription_ids: [device._id] } })),
    ];
    const untouched = rowOf(userCreated(other));
    await history.insert([...made, untouched]);
    return { user, device, externalId, made, untouched, traces: new RegExp(externalId, "i") };
  };
  const begin = async (user: UserRow): Promise<void> => {
    const owned = await subscriptions(site.db).ofUser(ofRow(of), user._id);
    await removals(site.db).begin(userRemoval(user, owned, site.clock.now()));
  };
  const passed = (id: string, passes: number) => async (): Promise<boolean> => {
    const row = await removalRows(site.db).findOne({ _id: id });
    return row?.lease === null && row.passes >= passes;
  };

  it("take what was sent to an endpoint with it, once it is gone, and what was stored a little later", async () => {
    const [endpoint, other] = [aWebhook({ _id: "whk_going", ...of }), { _id: "whk_other", ...of }];
    const sentTo = (of: Pick<WebhookRow, "_id" | "tenant_id" | "app_id">) =>
      deliveryOf(of, written(anEvent("user.created", null, {})), site.clock.now());
    const isLeft = (id: string) => deliveryRows(site.db).countDocuments({ endpoint_id: id });
    const work = collectionOf<WebhookRow>(site.db, webhookCollection);
    await work.insertOne({ ...endpoint });
    await history.insert([...Array.from({ length: 1_200 }, () => sentTo(endpoint)), sentTo(other)]);
    await removals(site.db).begin(webhookRemoval(endpoint, due(-minuteMs)));
    await site.startDispatcher();
    await until(async () => {
      const row = await removalRows(site.db).findOne({ _id: endpoint._id });
      return row?.lease === null && row.fence > 0 && (row.due_at ?? due()) > due(); // it was asked, and is over
    });
    expect(await isLeft(endpoint._id), "it is still there").to.equal(1_200);

    await work.deleteOne({ _id: endpoint._id });
    await removalRows(site.db).updateOne({ _id: endpoint._id }, { $set: { due_at: due() } });
    await until(passed(endpoint._id, 1));
    expect([await isLeft(endpoint._id), await isLeft(other._id)]).to.deep.equal([0, 1]);
    await history.insert([sentTo(endpoint)]); // its request was under way
    await removalRows(site.db).updateOne({ _id: endpoint._id }, { $set: { due_at: due() } });
    await until(async () => (await removalRows(site.db).findOne({ _id: endpoint._id })) === null);
    expect([await isLeft(endpoint._id), await isLeft(other._id)]).to.deep.equal([0, 1]);
  });

  it("finish what a kill interrupted, and erase every trace", async () => {
    const { user, made, untouched, traces } = await aPerson();
    await begin(user); // and nothing else: the apiserver is gone
    await site.startDispatcher();
    await until(passed(user._id, 1));
    expect(await userRows(site.db).countDocuments({ _id: user._id })).to.equal(0);
    expect(await subscriptionRows(site.db).countDocuments({ user_id: user._id })).to.equal(0);
    await until(() => site.eventsOn(user._id, "user.deleted").length === 1);

    const rows = await history.find(made);
    expect(rows).to.have.length(made.length);
    for (const row of rows) {
      expect(JSON.stringify(row)).not.to.match(traces);
      expect(JSON.parse(row.payload)).to.deep.include({ data: {}, erased: true });
    }
    expect(rows.find(({ attempts }) => attempts.length > 0)?.attempts).to.have.length(2);
    expect(rows.filter(({ status }) => status === "pending")).to.have.length(made.length - 1);
    expect(await history.find([untouched])).to.deep.equal([untouched]);
    for (const { name, erasure } of allCollections) {
      if ("kept" in erasure) continue;
      expect(JSON.stringify(await site.db.collection(name).find().toArray()), name).not.to.match(traces);
    }
  });

  it("take what devices reported of live activities by whose they are by then, and leave another's", async () => {
    const [former, present] = [await aPerson(), await aPerson()];
    const [moved, late] = [former.device, aSubscription({ ...of, user_id: present.user._id, token: "late" })];
    const reported = async (): Promise<number[]> =>
      Promise.all(
        [startTokenCollection, activityRecipientCollection].map(({ name }) =>
          site.db.collection(name).countDocuments({ subscription_id: { $in: [moved._id, late._id] } }),
        ),
      );
    for (const subscription of [moved, late]) {
      await startTokens(site.db).put(subscription, "lat_1", subscription._id, due());
      const token = { subscription, activity: "act_1", token: subscription._id, now: due() };
      await activityRecipients(site.db).putToken(token);
    }
    await begin(former.user);
    const change = () => ({ user_id: present.user._id });
    await subscriptions(site.db).put(of.tenant_id, { made: moved, known: undefined, change });
    await site.startDispatcher();
    await until(passed(former.user._id, 1));
    expect(await reported(), "they are the present owner's").to.deep.equal([2, 2]);

    await subscriptionRows(site.db).insertOne(late); // registered after those were read that are written down
    await removals(site.db).begin(userRemoval(present.user, [moved], site.clock.now()));
    await until(passed(present.user._id, 1));
    expect(await reported()).to.deep.equal([0, 0]);
  });

  it("tell what was too large for JetStream when it was stored, and erase", async () => {
    const { user, traces, made } = await aPerson();
    const large = { ...userCreated(user), data: { ...userCreated(user).data, tags: { t: "\u0001".repeat(300_000) } } };
    await begin({ ...user, outbox: [large] });
    await site.startDispatcher();
    await until(() => site.eventsOn(user._id, "user.deleted").length === 1);
    const [created] = site.eventsOn(user._id, "user.created");
    expect(created).to.include({ id: large.id, truncated: true });
    await until(passed(user._id, 1));
    for (const row of await history.find(made)) expect(JSON.stringify(row)).not.to.match(traces);
  });

  it("erase also when the events of what is removed cannot be published, and say why", async () => {
    const { user, traces, made } = await aPerson();
    await begin(user);
    await removalRows(site.db).updateOne({ _id: user._id }, { $set: { outbox: [null as never] } }); // a damaged document
    await site.startDispatcher();
    const row = () => removalRows(site.db).findOne({ _id: user._id });
    await until(async () => (await row())?.set_aside !== undefined);
    expect((await row())?.set_aside?.reason).to.include("TypeError");
    expect(await userRows(site.db).countDocuments({ _id: user._id })).to.equal(0);
    for (const kept of await history.find(made)) expect(JSON.stringify(kept)).not.to.match(traces);
  });

  it("come back for what was still on its way, until a day has passed", async () => {
    const { user, externalId, made, traces } = await aPerson();
    const seeded = { subscription: { user_id: user._id } };
    const talk = await seedConversation(site.db, of, seeded);
    await begin(user);
    await site.startDispatcher();
    await until(passed(user._id, 1));
    const lateTalk = await seedConversation(site.db, of, seeded);
    const late = rowOf(anEvent("delivery.sent", "dlv_1", { user_id: user._id, external_id: externalId }));
    const [first] = made;
    const echo = { ...first?.attempts[0], response_body_excerpt: externalId };
    await history.insert([late]);
    await deliveryRows(site.db).updateOne({ _id: first?._id ?? "" }, { $set: { "attempts.0": echo } });
    const heir = aUser({ ...of, external_id: externalId, created_at: due(), updated_at: due() });
    const fresh = rowOf(userCreated(heir));
    await history.insert([fresh]);

    site.shift(2 * minuteMs);
    await until(passed(user._id, 2));
    for (const row of await history.find([late, ...made])) {
      expect(JSON.stringify(row)).not.to.match(traces);
      expect(peopleIn(row.people)).not.to.include(user._id);
    }
    expect(await history.find([fresh])).to.deep.equal([fresh]);
    const gone = [talk, lateTalk].flatMap(({ row, message }) => [row._id, message._id]);
    const told = await collectionOf<DeletionRow>(site.db, deletionCollection).countDocuments({ _id: { $in: gone } });
    expect(told, "what warehouses are told").to.equal(gone.length);
    for (const hours of [2, 26]) {
      site.shift(hours * 60 * minuteMs);
      await until(
        async () => ((await removalRows(site.db).findOne({ _id: user._id }))?.passes ?? 9) > (hours > 2 ? 3 : 2),
      );
    }
    await until(async () => (await removalRows(site.db).countDocuments({ _id: user._id })) === 0);
  });

  it("tell who was deleted before that news is erased too", async () => {
    const { user, externalId } = await aPerson();
    await begin(user);
    const [removal] = await removalRows(site.db).find({ _id: user._id }).toArray();
    const news = removal?.outbox.at(-1);
    if (news === undefined) throw new Error("there is no event of the removal");
    const [waiting, sent] = [rowOf(news), rowOf(news, { _id: "whd_sent", status: "success", due_at: null })];
    await history.insert([waiting, sent]);
    await site.startDispatcher();
    await until(passed(user._id, 1));
    const [stillWaits, isSent] = await history.find([waiting, sent]);
    expect(stillWaits?.payload).to.include(externalId);
    expect(JSON.stringify(isSent)).not.to.include(externalId);
  });

  it("erase events that came in before and still wait to be published", async () => {
    const { user, device, externalId } = await aPerson();
    const [theirs, others] = [externalId, "bob"].map((id) =>
      anEvent("event.received", id, { external_id: id, name: "x", properties: { a: id } }),
    );
    const ofDevice = anEvent("event.received", null, { subscription_id: device._id, properties: { a: externalId } });
    const stored = [theirs, others, ofDevice].map((event) => ({
      id: event?.id ?? "",
      type: "event.received" as const,
      text: JSON.stringify(event),
      once: false as const,
    }));
    const batch = { ...noWork, ...of, _id: `evb_${externalId}`, events: stored, traceparent: null };
    await eventBatches(site.db).insert([{ ...batch, created_at: due(-minuteMs), due_at: due(minuteMs) }]);
    await begin(user);
    await site.startDispatcher();
    await until(passed(user._id, 1));
    const left = await collectionOf<EventBatchRow>(site.db, eventBatchCollection).findOne({ _id: `evb_${externalId}` });
    expect(JSON.stringify(left?.events)).not.to.include(externalId);
    expect(left?.events[1]).to.deep.equal(stored[1]);
  });

  it("remove the history of an app that is gone, and no other's", async () => {
    const gone = { ...of, app_id: `app_${crypto.randomUUID()}` };
    const kept = rowOf(anEvent("delivery.sent", "dlv_1", {}));
    const many = Array.from({ length: 1_100 }, (_, n) => ({ ...kept, ...gone, _id: `${kept._id}${n}` }));
    await history.insert([kept, ...many]);
    await removals(site.db).begin(appRemoval({ _id: gone.app_id, tenant_id: "ten_1" }, site.clock.now()));
    await site.startDispatcher();
    await until(passed(gone.app_id, 1));
    expect(
      await deliveryRows(site.db).countDocuments({
        app_id: gone.app_id,
      }),
    ).to.equal(0);
    expect(await history.find([kept])).to.have.length(1);
  });
});
