import { createHmac } from "node:crypto";
import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { type WarehouseDataset, warehouseDatasets } from "#core/schema/warehouse/export.ts";
import { type ConversationRow, conversationCollection } from "#core/storage/conversations/conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "#core/storage/conversations/message-row.ts";
import { type ConversionRow, conversionCollection } from "#core/storage/events/conversions.ts";
import { eventDefinitionCollection, eventDefinitions } from "#core/storage/events/definitions.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { type InAppEventRow, inAppEventCollection } from "#core/storage/in-app-messages/events.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { blankSubscription, blankUser } from "#core/storage/people/made.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { type SuppressionRow, suppressionCollection, suppressionRow } from "#core/storage/suppressions/suppressions.ts";
import { deletionCollection, deletions } from "#core/storage/warehouse/deletions.ts";
import { type WarehouseExportRow, warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { hashKeyCollection, hashKeys } from "#core/storage/warehouse/hash-keys.ts";
import { warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";
import { testKeyRing } from "../../../support/rows/fixtures.ts";
import { anInAppEvent } from "../../../support/rows/in-app-event.ts";
import { aConversion, s3Destination } from "../../../support/rows/warehouse.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { bucketOf, deliveriesFrom, warehouseSite } from "../../../support/warehouse/site.ts";

const of = { tenantId: "ten_1", appId: "app_1" };
const inApp = { tenant_id: of.tenantId, app_id: of.appId };
const hourMs = 3_600_000;

describe("the datasets of a warehouse export", () => {
  const db = testDatabase("datasets", [
    conversationCollection,
    conversationMessageCollection,
    conversionCollection,
    deletionCollection,
    deliveryCollection,
    eventCollection,
    inAppEventCollection,
    eventDefinitionCollection,
    hashKeyCollection,
    messageCollection,
    subscriptionCollection,
    suppressionCollection,
    userCollection,
    warehouseExportCollection,
    warehouseRunCollection,
  ]);
  const site = warehouseSite(db);
  const start = new Date(Date.now() - 6 * hourMs);
  const ends = [1, 2, 3].map((hours) => new Date(start.getTime() + hours * hourMs)) as [Date, Date, Date];
  const within = (window: 0 | 1 | 2): Date => new Date(ends[window].getTime() - hourMs / 2);
  let bucket: ReturnType<typeof bucketOf>;

  /** Runs that export one window after another; gives the rows of each. */
  const exported = async (
    datasets: readonly WarehouseDataset[],
    windows: number,
    over: Partial<WarehouseExportRow> = {},
  ) => {
    const destination = s3Destination((await testServers()).s3Url);
    bucket = bucketOf(destination);
    const row = await site.add(destination, { ...inApp, datasets: [...datasets], ...over });
    for (const [n, to] of ends.slice(0, windows).entries())
      await site.run(await site.begin(row, ends[n - 1] ?? start, to));
    const manifests = await bucket.manifests();
    expect(manifests).to.have.length(windows);
    const rows = await Promise.all(manifests.map((manifest) => bucket.rows([manifest])));
    bucket.close();
    return { manifests, rows };
  };

  const user = (window: 0 | 1, over: Partial<UserRow> = {}): UserRow => {
    const id = newId("user", within(window));
    return { ...blankUser(id, of, within(window)), alias_keys: [`user_id:${id}`], ...over };
  };
  const device = (owner: UserRow): SubscriptionRow => {
    const made = { user: owner, channel: "email" as const, token: `${owner._id}@example.com`, web: null };
    return blankSubscription(newId("subscription", owner.created_at), made, owner.created_at);
  };

  it("have exactly the columns that the manifest names, whatever the row", async () => {
    const owner = user(0, { tags: { plan: "pro" }, properties: { "a.b": { c: ["ü", null] } } });
    const address = device(owner);
    const about = {
      channel: "email" as const,
      subject: "s",
      key: "k",
      address: address.token,
      externalId: "x",
      userId: owner._id,
    };
    const said = { reason: "manual", source: "api", note: null, categories: null, expires_at: null } as const;
    const entry = suppressionRow(of, {
      id: newId("suppression", within(0)),
      about,
      said: { ...said, beside_status: null },
      at: within(0),
    });
    await db().collection<UserRow>(userCollection.name).insertOne(owner);
    await db().collection<SubscriptionRow>(subscriptionCollection.name).insertOne(address);
    await db().collection<SuppressionRow>(suppressionCollection.name).insertOne(entry);
    await db()
      .collection<EventRow>(eventCollection.name)
      .insertOne(event(within(0)));
    const { row: talk, message } = await seedConversation(db(), inApp, {
      conversation: { updated_at: within(0), assignee: { type: "team", id: "t", name: "Help" } },
      subscription: { updated_at: new Date(0) },
    });
    await messagesOfTalks().updateOne({ _id: message._id }, { $set: { updated_at: within(0) } });
    await eventDefinitions(db()).define(of, ["order.paid"], within(0));
    await db()
      .collection<DeliveryRow>(deliveryCollection.name)
      .insertMany(deliveriesFrom(inApp, within(0), 1));
    await deletions(db()).note(of, "users", ["usr_gone"], within(0));
    const { manifests, rows } = await exported(warehouseDatasets, 1);
    const counts: Partial<Record<WarehouseDataset, number>> = { messages: 0, users: 2, message_events: 2 };
    const all = new Map(manifests[0]?.datasets.map((one) => [one.name, one]));
    for (const name of warehouseDatasets) {
      const named = all.get(name)?.columns.map((column) => column.name) ?? [];
      expect(new Set(all.get(name)?.columns.map(({ id }) => id)).size, name).to.equal(named.length);
      expect(all.get(name)?.rows, name).to.equal(counts[name] ?? 1);
    }
    const [found] = rows;
    const find = (id: string) => found?.find((row) => row["id"] === id);
    expect(find(owner._id)).to.deep.include({
      tags: { plan: "pro" },
      properties: { "a.b": { c: ["ü", null] } },
      session_count: 0,
      _hs_deleted: false,
    });
    expect(find(address._id)).to.include({ token_masked: "u•••@example.com", user_id: owner._id });
    expect(find(talk._id)).to.include({ assignee_type: "team", assignee_id: "t", channel: "whatsapp" });
    expect(find(message._id)).to.include({ conversation_id: talk._id, author_type: "contact", media_count: 0 });
    const key = await hashKeys(db(), keyRing(testKeyRing))(of);
    const hash = (text: string) => createHmac("sha256", Buffer.from(key, "hex")).update(text).digest("hex");
    expect(find(address._id)).to.include({ address_hash: hash(address.token) });
    expect(find(entry._id)).to.include({ address_hash: hash(address.token) });
    expect(find(talk._id)).to.include({ contact_address_hash: hash(talk.contact_address) });
    for (const secret of [address.token, talk.contact_address, message.text ?? "", key])
      expect(JSON.stringify(found), "no address").not.to.include(secret);
  });

  const messagesOfTalks = () => db().collection<ConversationMessageRow>(conversationMessageCollection.name);

  it("have addresses and what people wrote only with include_pii, and tokens of devices never", async () => {
    const {
      row: talk,
      message,
      person,
    } = await seedConversation(db(), inApp, {
      conversation: { updated_at: within(0), contact_name: "Anna" },
      subscription: { updated_at: within(0) },
    });
    await messagesOfTalks().updateOne({ _id: message._id }, { $set: { updated_at: within(0) } });
    const phone = { ...device(user(0)), channel: "ios_push" as const, token: "ab".repeat(32) };
    await db().collection<SubscriptionRow>(subscriptionCollection.name).insertOne(phone);
    const { rows } = await exported(["subscriptions", "conversations", "conversation_messages"], 1, {
      include_pii: true,
    });
    const find = (id: string) => rows[0]?.find((row) => row["id"] === id);
    expect(find(person._id)).to.include({ address: person.token });
    expect(find(phone._id)).to.include({ address: null, address_hash: null });
    expect(find(talk._id)).to.include({ contact_address: talk.contact_address, contact_name: "Anna" });
    expect(find(message._id)).to.deep.include({ text: "Hello?", content: {} });
    expect(JSON.stringify(rows)).not.to.include(phone.token);
  });

  it("have each thing that happened to a delivery, and each conversion, once: in the window in which it came", async () => {
    await db().collection<DeliveryRow>(deliveryCollection.name).deleteMany({});
    const [delivery] = deliveriesFrom(inApp, within(0), 1);
    if (delivery === undefined) throw new Error("no delivery");
    const received = { opened: within(1) };
    const opened = { ...delivery, status: "opened" as const, opened_at: within(1), received, updated_at: within(1) };
    await db().collection<DeliveryRow>(deliveryCollection.name).insertOne(delivery);
    const first = await exported(["message_events"], 1);
    await db().collection<DeliveryRow>(deliveryCollection.name).replaceOne({ _id: delivery._id }, opened);
    await db()
      .collection<ConversionRow>(conversionCollection.name)
      .insertOne(aConversion(delivery, within(1)));
    const clicked = { app_id: delivery.app_id, tenant_id: delivery.tenant_id, type: "clicked" as const, at: within(1) };
    await db()
      .collection<InAppEventRow>(inAppEventCollection.name)
      .insertOne(anInAppEvent({ _id: "evt_in_app", ...clicked }));
    const { rows } = await exported(["message_events"], 2);
    const kinds = (some: Record<string, unknown>[] = []) => some.map(({ event }) => event);
    expect(kinds(first.rows[0])).to.deep.equal(["queued", "sent"]);
    expect(rows[0]?.map(({ id }) => id)).to.deep.equal(first.rows[0]?.map(({ id }) => id));
    expect(kinds(rows[1])).to.deep.equal(["opened", "converted", "in_app_clicked"]);
    expect(new Set(rows.flat().map(({ id }) => id)).size).to.equal(5);
    expect(rows[1]?.[0]).to.include({ received_at: within(1).toISOString() });
    expect(rows[1]?.[1]).to.deep.include({
      delivery_id: delivery._id,
      channel: "email",
      properties: { name: "order.paid", value: 5, attribution: "direct" },
    });
  });

  it("are narrowed to events of some names, which the manifest says", async () => {
    const [paid, other] = [event(within(0)), event(within(0), { name: "page.seen" })];
    await db().collection<EventRow>(eventCollection.name).deleteMany({});
    await db().collection<EventRow>(eventCollection.name).insertMany([paid, other]);
    const { rows, manifests } = await exported(["events"], 1, { event_names: ["order.paid", "order.sent"] });
    expect(rows[0]?.map(({ id }) => id)).to.deep.equal([paid._id]);
    expect(manifests[0]?.datasets[0]).to.deep.include({ event_names: ["order.paid", "order.sent"] });
  });

  it("say that the conversations of somebody and their messages are gone, also while the former are still to be counted", async () => {
    const { row: talk, message } = await seedConversation(db(), inApp, { conversation: { updated_at: new Date(0) } });
    const talks = db().collection<ConversationRow>(conversationCollection.name);
    await deletions(db()).note(of, "conversations", [talk._id], within(0));
    await deletions(db()).note(of, "conversation_messages", [message._id], within(0));
    await talks.updateOne({ _id: talk._id }, { $set: { gone: true } });
    await messagesOfTalks().deleteOne({ _id: message._id });
    const { rows } = await exported(["conversations", "conversation_messages"], 1);
    const find = (sought: string) => rows[0]?.find(({ id }) => id === sought);
    expect(find(talk._id)).to.include({ _hs_deleted: true, contact_address_masked: null });
    expect(find(message._id)).to.include({ _hs_deleted: true, conversation_id: null, created_at: null });
  });

  const event = (at: Date, over: Partial<EventRow> = {}): EventRow => ({
    _id: newId("event", at),
    ...inApp,
    name: "order.paid",
    occurred_at: at,
    received_at: at,
    stored_at: at,
    source: "api",
    batch: "b",
    value: 19.9,
    ...over,
  });

  it("give a late event to the window in which it was stored, and one that is older than that member to none", async () => {
    const late = event(within(0), { stored_at: within(1), properties: '{"a":1}' });
    const { stored_at: _, ...former } = event(within(0));
    await db().collection<EventRow>(eventCollection.name).deleteMany({});
    await db().collection<EventRow>(eventCollection.name).insertMany([late, former]);
    const { rows } = await exported(["events"], 2);
    expect(rows.map((some) => some.map(({ id }) => id))).to.deep.equal([[], [late._id]]);
    expect(rows[1]?.[0]).to.deep.include({
      occurred_at: within(0).toISOString(),
      received_at: within(1).toISOString(),
      properties: { a: 1 },
      value: 19.9,
    });
  });

  it("say of a row that is gone its id alone, once, and nothing of one that is there after all", async () => {
    const [stays, goes] = [user(0), user(0)];
    const users = db().collection<UserRow>(userCollection.name);
    await users.deleteMany({});
    await db().collection(deletionCollection.name).deleteMany({});
    await users.insertMany([stays, goes]);
    const noted = deletions(db());
    await noted.note(of, "users", [stays._id, goes._id], within(1));
    await noted.note({ ...of, appId: "app_2" }, "users", ["usr_other"], within(1));
    await noted.note(of, "subscriptions", ["sub_other"], within(1));
    const first = await exported(["users"], 1);
    expect(first.rows[0]?.map(({ id }) => id)).to.have.members([stays._id, goes._id]);
    await users.deleteOne({ _id: goes._id });
    const { rows } = await exported(["users"], 3);
    const [, second, third] = rows;
    expect(third).to.deep.equal([]);
    expect(second).to.have.length(1);
    const { _hs_run_id: _, _hs_exported_at: at, ...row } = second?.[0] ?? {};
    expect(at).to.be.a("string");
    const nothing = { external_id: null, tags: null, properties: null, session_count: null };
    const never = { first_seen_at: null, last_active_at: null, created_at: null };
    expect(row).to.deep.equal({
      id: goes._id,
      updated_at: within(1).toISOString(),
      _hs_deleted: true,
      ...nothing,
      ...never,
    });
  });

  it("go on among deleted rows where a part ended there", async () => {
    const gone = Array.from({ length: 1_100 }, (_, n) => `usr_gone_${String(n).padStart(5, "0")}`);
    await db().collection(userCollection.name).deleteMany({});
    await db().collection(deletionCollection.name).deleteMany({});
    await deletions(db()).note(of, "users", gone, within(0));
    const destination = s3Destination((await testServers()).s3Url);
    bucket = bucketOf(destination);
    const row = await site.add(destination, { ...inApp, datasets: ["users"] });
    const id = await site.begin(row, start, ends[0]);
    await site.run(id, { partRows: 1_000 });
    const manifests = await bucket.manifests();
    expect(manifests[0]?.datasets[0]?.files.map(({ rows }) => rows)).to.deep.equal([1_000, 100]);
    expect((await bucket.rows(manifests)).map((one) => one["id"])).to.deep.equal(gone);
    bucket.close();
  });
});
