import { expect } from "chai";
import type { CollectionOptions, Db } from "mongodb";
import { newId } from "#core/domain/ids.ts";
import { subscriptionEvent, userCreated } from "#core/domain/people/events.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { UpdateUser } from "#core/schema/people/user.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { contacts, type NewContact, newContacts } from "#core/storage/people/contacts.ts";
import { invalidated } from "#core/storage/people/ended.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { type UserRow, userCollection, users } from "#core/storage/people/users.ts";
import { updateUser } from "../../../../apiserver/people/update-user.ts";
import { aSubscription, aUser } from "../../../support/rows/fixtures.ts";
import { usePeopleSite } from "../../../support/system/people.ts";
import { until } from "../../../support/until.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const due = (inMs = -1) => new Date(Date.now() + inMs);
const fits = ({ type, data }: EventEnvelope): unknown => parser(eventTypes[type].data)(data);

/** A process that is killed before it stores a subscription. */
const withoutSubscriptions = (db: Db): Db =>
  new Proxy(db, {
    get: (of, member) => {
      if (member !== "collection") return Reflect.get(of, member);
      return (name: string, options?: CollectionOptions) => {
        const rows = of.collection(name, options);
        if (name === subscriptionCollection.name) rows.insertMany = () => Promise.reject(new Error("killed"));
        return rows;
      };
    },
  });

describe("the timers of users and subscriptions", () => {
  const site = usePeopleSite();

  describe("with events that a kill left", () => {
    it("publish those of users and subscriptions once, and leave nothing to do", async () => {
      const user = aUser(of);
      const device = aSubscription({ ...of, user_id: user._id });
      const created = subscriptionEvent("subscription.created", device, device.created_at);
      await collectionOf<UserRow>(site.db, userCollection).insertOne({
        ...user,
        outbox: [userCreated(user)],
        due_at: due(),
      });
      await collectionOf<SubscriptionRow>(site.db, subscriptionCollection).insertOne({
        ...device,
        outbox: [created],
        due_at: due(),
      });
      await site.startDispatcher();
      await until(
        async () => (await collectionOf<UserRow>(site.db, userCollection).findOne({ _id: user._id }))?.due_at === null,
      );
      await until(
        async () =>
          (await collectionOf<SubscriptionRow>(site.db, subscriptionCollection).findOne({ _id: device._id }))
            ?.due_at === null,
      );
      await until(
        () =>
          site.eventsOn(user._id, "user.created").length + site.eventsOn(device._id, "subscription.created").length ===
          2,
      );
      expect((await collectionOf<UserRow>(site.db, userCollection).findOne({ _id: user._id }))?.outbox).to.deep.equal(
        [],
      );
    });

    it("remove who was made for an address that did not come, without an event, and nobody else", async () => {
      const at = due(-120_000);
      const [cut, whole] = ["cut", "whole"].map((name) => {
        const wanted = [{ channel: "email" as const, token: `${name}@example.com` }];
        const ofApp = { tenantId: of.tenant_id, appId: of.app_id };
        return newContacts(ofApp, { wanted, known: [] }, (kind) => newId(kind, at), at);
      }) as [NewContact[], NewContact[]];
      const killed = contacts(withoutSubscriptions(site.db)).add(cut);
      expect(await killed.catch((error: Error) => error.message)).to.equal("killed");
      await contacts(site.db).add(whole);
      const [lost, kept] = [cut[0]?.user?._id ?? "", whole[0]?.user?._id ?? ""];
      const [used, old] = [aUser(of), aUser(of)];
      const left = { of_contact: true as const, due_at: due() };
      const rows = collectionOf<UserRow>(site.db, userCollection);
      await rows.insertMany([
        { ...used, ...left, outbox: [userCreated(used)], revision: 1 },
        { ...old, ...left, outbox: [{ ...userCreated(old), type: "user.merged" }] },
      ]);
      expect(await rows.countDocuments({ _id: lost })).to.equal(1);
      await site.startDispatcher();
      await until(async () => (await rows.countDocuments({ _id: lost })) === 0);
      await until(() => site.eventsOn(kept, "user.created").length === 1);
      await until(() => site.eventsOn(used._id, "user.created").length === 1);
      expect(site.eventsOn(lost, "user.created")).to.deep.equal([]);
      expect(await rows.countDocuments({ _id: { $in: [kept, used._id, old._id] } })).to.equal(3);
      const again = await contacts(site.db).add(cut); // as a repeat of the request has it, with its own ids
      expect(again[0]?.subscriptions).to.have.length(1);
    });

    it("tell of a subscription whose address is gone", async () => {
      const [gone, renewed, seen] = [aSubscription(of), aSubscription(of), aSubscription(of)];
      await collectionOf<SubscriptionRow>(site.db, subscriptionCollection).insertMany([
        gone,
        renewed,
        { ...seen, last_active_at: due() },
      ]);
      const since = due(-1_000);
      const named = [gone, { ...renewed, token: "another" }, seen].map(({ _id, token }) => ({ _id, token, since }));
      await invalidated(site.db)(named, site.clock.now());
      await invalidated(site.db)(named, site.clock.now());
      const now = await subscriptions(site.db).ofUsers(of.app_id, [gone.user_id, renewed.user_id, seen.user_id]);
      expect(now.map(({ status }) => status)).to.deep.equal(["invalid", "subscribed", "subscribed"]);
      await site.startDispatcher();
      await until(() => site.eventsOn(gone._id, "subscription.invalidated").length > 0);
      const [event, ...more] = site.eventsOn(gone._id, "subscription.invalidated");
      expect(more).to.deep.equal([]);
      expect(event?.data).to.include({ status: "invalid", reason: "token_invalid" });
    });
  });

  describe("with users that change", () => {
    const change = async (id: string, body: UpdateUser): Promise<UserRow> => {
      const row = await collectionOf<UserRow>(site.db, userCollection).findOne({ _id: id });
      if (row === null) throw new Error(`${id} is gone`);
      return updateUser({ users: users(site.db), nameOwner: async () => undefined, clock: site.clock })(row, body);
    };

    it("tell of all changes of five seconds at once, and of later ones by another event", async () => {
      const user = aUser({ ...of, tags: { plan: "free" } });
      await collectionOf<UserRow>(site.db, userCollection).insertOne(user);
      await collectionOf<SubscriptionRow>(site.db, subscriptionCollection).insertOne(
        aSubscription({ ...of, user_id: user._id }),
      );
      const beganMs = Date.now() - 20_000;
      const standAfter = (ms: number) => site.stand(new Date(beganMs + ms)); // however long each step takes
      standAfter(0);
      await change(user._id, { tags: { plan: "pro" } });
      standAfter(3_000);
      await change(user._id, { language: "it", tags: { plan: "max" } });
      standAfter(4_000);
      await site.startDispatcher();
      const control = aUser(of); // by when its event is out, the timers have passed over the other user too
      await collectionOf<UserRow>(site.db, userCollection).insertOne({
        ...control,
        outbox: [userCreated(control)],
        due_at: site.clock.now(),
      });
      await until(() => site.eventsOn(control._id, "user.created").length === 1);
      expect(site.eventsOn(user._id, "user.updated")).to.deep.equal([]);

      standAfter(6_000);
      await until(
        async () => (await collectionOf<UserRow>(site.db, userCollection).findOne({ _id: user._id }))?.due_at === null,
      );
      await until(() => site.eventsOn(user._id, "user.updated").length > 0);
      const [first, ...more] = site.eventsOn(user._id, "user.updated");
      expect(more).to.deep.equal([]);
      expect(first && fits(first)).to.deep.include({ language: "it", tags: { plan: "max" } });
      expect(first?.data["changed"]).to.have.members(["tags.plan", "language"]);
      expect(first?.data["subscriptions"]).to.have.length(1);

      const said = { country: "IT", location: { lat: 45.4, long: 9.2 }, amount_spent: 12.5, session_time: 60 };
      await change(user._id, said);
      standAfter(12_000);
      await until(() => site.eventsOn(user._id, "user.updated").length > 1);
      const [, second] = site.eventsOn(user._id, "user.updated");
      expect(second?.data).to.deep.include(said);
      expect(second?.data["changed"]).to.have.members(Object.keys(said));
      expect(second?.id).not.to.equal(first?.id);
    });

    it("repeat an external id on subscriptions that still have the one before", async () => {
      const user = aUser({ ...of, external_id: null });
      const device = aSubscription({ ...of, user_id: user._id, external_id: "before" });
      await collectionOf<UserRow>(site.db, userCollection).insertOne(user);
      await collectionOf<SubscriptionRow>(site.db, subscriptionCollection).insertOne(device);
      const externalId = `ext-${user._id}`;
      await change(user._id, { external_id: externalId }); // and killed before it could be repeated
      await collectionOf<UserRow>(site.db, userCollection).updateOne({ _id: user._id }, { $set: { due_at: due() } });
      await site.startDispatcher();
      await until(() => site.eventsOn(user._id, "user.updated").length > 0);
      const [event] = site.eventsOn(user._id, "user.updated");
      expect(event?.data["subscriptions"]).to.have.nested.property("[0].external_id", externalId);
      expect(
        (await collectionOf<SubscriptionRow>(site.db, subscriptionCollection).findOne({ _id: device._id }))
          ?.external_id,
      ).to.equal(externalId);
    });

    it("tell of users whose events are larger than JetStream takes, and of the others", async () => {
      const tags = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`t${n}`, "\u0001".repeat(1_024)]));
      const large = Array.from({ length: 4 }, () => aUser({ ...of, tags, changed: ["tags.t0"], due_at: due(-60_000) }));
      const others = Array.from({ length: 3 }, () =>
        aUser({ ...of, app_id: "app_2", changed: ["language"], due_at: due() }),
      );
      await collectionOf<UserRow>(site.db, userCollection).insertMany([...large, ...others]);
      await site.startDispatcher();
      const all = [...large, ...others];
      await until(() => all.every(({ _id }) => site.eventsOn(_id, "user.updated").length === 1));
      for (const { _id } of large) {
        const [event] = site.eventsOn(_id, "user.updated");
        expect(Buffer.byteLength(JSON.stringify(event))).to.be.at.most(65_536);
        expect(event).to.include({ truncated: true });
        expect(event?.data).to.include({ user_id: _id });
      }
      await until(
        async () =>
          (await collectionOf<UserRow>(site.db, userCollection).countDocuments({ changed: { $ne: [] } })) === 0,
      );
    });

    it("tell of the others when one user's document is damaged, which says why it is set aside", async () => {
      const damaged = aUser({ ...of, changed: ["language"], due_at: due(-60_000) });
      const others = Array.from({ length: 150 }, () => aUser({ ...of, changed: ["language"], due_at: due() }));
      await collectionOf<UserRow>(site.db, userCollection).insertMany([damaged, ...others]);
      await collectionOf<UserRow>(site.db, userCollection).updateOne(
        { _id: damaged._id },
        { $unset: { first_seen_at: 1 } },
      );
      await site.startDispatcher();
      await until(() => others.every(({ _id }) => site.eventsOn(_id, "user.updated").length === 1));
      await until(
        async () =>
          (await collectionOf<UserRow>(site.db, userCollection).findOne({ _id: damaged._id }))?.set_aside !== undefined,
      );
      const row = await collectionOf<UserRow>(site.db, userCollection).findOne({ _id: damaged._id });
      expect(row?.set_aside).to.include({ failures: 1 });
      expect(row?.set_aside?.reason).to.include("first_seen_at is missing");
      expect(row?.changed).to.deep.equal(["language"]);
    });

    it("tell of a tenant's users while another's events have filled their share of the stream, and later of theirs", async () => {
      const late = aUser({ ...of, tenant_id: "ten_full", changed: ["language"], due_at: due() });
      const user = aUser({ ...of, changed: ["language"], due_at: due() });
      const changedOf = async ({ _id }: UserRow) =>
        (await collectionOf<UserRow>(site.db, userCollection).findOne({ _id }))?.changed;
      const empty = await site.fill("ten_full", late.app_id);
      await collectionOf<UserRow>(site.db, userCollection).insertMany([late, user]);
      await site.startDispatcher();
      await until(async () => (await changedOf(user))?.length === 0);
      expect(await changedOf(late)).to.deep.equal(["language"]);
      await until(() => site.eventsOn(user._id, "user.updated").length === 1);
      await empty();
      await collectionOf<UserRow>(site.db, userCollection).updateOne({ _id: late._id }, { $set: { due_at: due() } });
      await until(async () => (await changedOf(late))?.length === 0);
      await until(() => site.eventsOn(late._id, "user.updated").length === 1);
    });

    it("keep a change that comes while the one before is published", async () => {
      const [user, once, twice] = [aUser(of), aUser(of), aUser(of)];
      await collectionOf<UserRow>(site.db, userCollection).insertMany([user, once, twice]);
      const first = await change(user._id, { language: "it" });
      await change(user._id, { country: "IT" });
      await change(twice._id, { language: "it" });
      const others = [await change(once._id, { language: "it" }), await change(twice._id, { country: "IT" })];
      await users(site.db).forgetChanges([first, ...others]); // as the publisher of these does
      for (const { _id } of others)
        expect(await collectionOf<UserRow>(site.db, userCollection).findOne({ _id })).to.deep.include({
          changed: [],
          due_at: null,
        });
      const row = await collectionOf<UserRow>(site.db, userCollection).findOne({ _id: user._id });
      expect(row?.changed).to.have.members(["language", "country"]);
      expect(row?.due_at).to.be.instanceOf(Date);
    });
  });
});
