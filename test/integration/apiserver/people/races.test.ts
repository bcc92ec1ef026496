import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import type { UpdateUser } from "#core/schema/people/user.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { type UserRow, userCollection, users } from "#core/storage/people/users.ts";
import { type RemovalRow, removalCollection, removals } from "#core/storage/work/removals.ts";
import { deleteUser } from "../../../../apiserver/people/delete-user.ts";
import { updateSubscription } from "../../../../apiserver/people/update-subscription.ts";
import { updateUser } from "../../../../apiserver/people/update-user.ts";
import { anApiKey, aPlan, aSubscription, aTenant, aUser } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const clock = systemClock;
const caller = { key: anApiKey(of).row, tenant: aTenant(), plan: aPlan() };

describe("a change of people that was decided on what is no longer so", () => {
  const db = testDatabase("people_races");

  const stored = async (over: Partial<UserRow> = {}): Promise<UserRow> => {
    const user = aUser({ ...of, ...over });
    await collectionOf<UserRow>(db(), userCollection).insertOne(user);
    return user;
  };
  const patch = (read: UserRow, body: UpdateUser): Promise<UserRow> =>
    updateUser({ users: users(db()), nameOwner: async () => undefined, clock })(read, body);
  const now = async ({ _id }: UserRow): Promise<UserRow | null> =>
    collectionOf<UserRow>(db(), userCollection).findOne({ _id });
  const tags = (from: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${from + n}`, "1"]));
  const refusal = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => null,
      (error: unknown) => error,
    );

  it("does not take a user beyond the bound of tags", async () => {
    const read = await stored();
    await patch(read, { tags: tags(0, 150) });
    expect(await refusal(patch(read, { tags: tags(150, 150) }))).to.include({ code: "HS_VALIDATION_ERROR" });
    expect(Object.keys((await now(read))?.tags ?? {})).to.have.length(150);
  });

  it("keeps what both of two writers set", async () => {
    const read = await stored({ tags: { plan: "pro" } });
    await patch(read, { tags: { a: "1" }, language: "it" });
    await patch(read, { tags: { b: "2" } });
    expect(await now(read)).to.deep.include({ tags: { plan: "pro", a: "1", b: "2" }, language: "it" });
  });

  it("is made in the end, however many of three processes change one user", async () => {
    const read = await stored();
    const processes = Array.from({ length: 3 }, () => users(db()));
    const nameOwner = async () => undefined;
    const writes = Array.from({ length: 60 }, (_, n) =>
      updateUser({ users: processes[n % 3] ?? users(db()), nameOwner, clock })(read, { tags: tags(n, 1) }),
    );
    await Promise.all(writes);
    expect(Object.keys((await now(read))?.tags ?? {})).to.have.length(60);
  });

  it("tells that it changed a value back", async () => {
    const read = await stored({ language: "de" });
    await patch(read, { language: "it" });
    await patch(read, { language: "de" });
    expect(await now(read)).to.include({ language: "de", revision: 2 });
  });

  it("tells the end of a subscription of whoever has it by then", async () => {
    const [before, after] = [aSubscription(of), aSubscription(of)];
    const { user_id, external_id } = after;
    await collectionOf<SubscriptionRow>(db(), subscriptionCollection).insertOne(before);
    const change = () => ({ user_id, external_id });
    await subscriptions(db()).put(of.tenant_id, { made: before, known: undefined, change });
    const requireSubscribers = () => Promise.reject(new Error("it adds none"));
    const nothing = { publish: () => undefined, followStatus: async () => undefined };
    const deps = { subscriptions: subscriptions(db()), requireSubscribers, ...nothing, clock };
    const ended = await updateSubscription(deps)(caller, before, { status: "unsubscribed" });
    expect(ended.outbox.map(({ data }) => data["user_id"])).to.deep.equal([user_id]);
  });

  it("deletes a user by the ids that they have by then", async () => {
    const read = await stored({ external_id: "before" });
    const device = aSubscription({ ...of, user_id: read._id });
    await collectionOf<SubscriptionRow>(db(), subscriptionCollection).insertOne(device);
    await patch(read, { external_id: "by-then", aliases: { crm: "new" } });
    const published: RemovalRow[] = [];
    const publish = (removal: RemovalRow) => void published.push(removal);
    const deps = { removals: removals(db()), users: users(db()), subscriptions: subscriptions(db()), publish, clock };
    await deleteUser(deps)(read);
    expect(published.flatMap(({ outbox }) => outbox.map(({ data }) => data["external_id"]))).to.deep.equal(["by-then"]);
    const removal = await collectionOf<RemovalRow>(db(), removalCollection).findOne({ _id: read._id });
    expect(removal?.keys).to.include.members(["external_id:before", "external_id:by-then", "crm:new", device._id]);
    expect(removal?.outbox).to.deep.equal(published[0]?.outbox);
    expect([
      await now(read),
      await collectionOf<SubscriptionRow>(db(), subscriptionCollection).findOne({ _id: device._id }),
    ]).to.deep.equal([null, null]);
  });
});
