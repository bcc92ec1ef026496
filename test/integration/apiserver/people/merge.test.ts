import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { userLimits } from "#core/schema/people/user.ts";
import { eventPeople } from "#core/storage/events/people.ts";
import { importedPeople } from "#core/storage/imports/people.ts";
import { merges } from "#core/storage/people/merge.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { RemovalRow } from "#core/storage/work/removals.ts";
import type { Api } from "../../../support/api/api.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, seed } from "../../../support/rows/fixtures.ts";

const email = (token: string, more: object = {}) => ({ channel: "email", token, ...more });

describe("a user who is merged into another one", () => {
  const { site, tenant } = useSharedSite();
  let other: Api;

  before(async () => {
    other = await site.replica();
  });

  const call = (method: string, path: string, body?: object, api = site.api) =>
    api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, ...(body && { body }) });
  const upsert = (body: object) => call("POST", "/users", body);
  const merge = (from: string, into: string, api = site.api) =>
    call("POST", `/users/by/external_id/${from}/merge`, { into: { label: "external_id", id: into } }, api);
  const shown = async (externalId: string) => (await call("GET", `/users/by/external_id/${externalId}`)).body;
  const users = () => site.db.collection<UserRow>("users");
  const mergeRows = () =>
    site.db.collection<RemovalRow>("removals").find({ kind: "merge", app_id: tenant.app._id }).toArray();

  it("leaves them what they do not have themselves, and each of their ids leads there", async () => {
    const old = await upsert({
      external_id: "m1",
      aliases: { crm: "m1", shop: "s1" },
      tags: { plan: "free", city: "Rome" },
      properties: { a: 1 },
      language: "it",
      subscriptions: [email("m1@example.com")],
    });
    const kept = await upsert({ external_id: "m2", aliases: { crm: "m2" }, tags: { plan: "pro" }, country: "DE" });
    const reply = await merge("m1", "m2");
    expect([reply.status, reply.body.id]).to.deep.equal([200, kept.body.id]);
    expect(reply.body).to.deep.include({
      external_id: "m2",
      aliases: { crm: "m2", shop: "s1" },
      tags: { plan: "pro", city: "Rome" },
      properties: { a: 1 },
      language: "it",
      country: "DE",
    });
    const [subscription] = reply.body.subscriptions;
    expect(subscription).to.deep.include({ user_id: kept.body.id, external_id: "m2" });
    for (const by of ["external_id/m1", "crm/m1", "shop/s1", "crm/m2", `user_id/${old.body.id}`])
      expect((await call("GET", `/users/by/${by}`)).body.id, by).to.equal(kept.body.id);
    expect(await users().countDocuments({ _id: old.body.id })).to.equal(0);
    const list = (await call("POST", "/segments", { name: "Merged", kind: "list" })).body.id;
    const listed = { users: [{ label: "user_id", id: old.body.id }] };
    expect((await call("POST", `/segments/${list}/members`, listed)).body).to.deep.equal({ added: 1, missing: [] });
  });

  it("is known by the old ids to all who write: they change nothing of the ids", async () => {
    const { body: kept } = await upsert({ external_id: "w2", aliases: { crm: "w2" } });
    await upsert({ external_id: "w1", aliases: { crm: "w1" } });
    await merge("w1", "w2");
    const again = await upsert({ external_id: "w1", aliases: { crm: "w1" }, tags: { seen: "1" } });
    expect([again.status, again.body.id]).to.deep.equal([200, kept.id]);
    expect(again.body).to.deep.include({ external_id: "w2", aliases: { crm: "w2" }, tags: { seen: "1" } });
    const batch = await call("POST", "/users/batch", { users: [{ external_id: "w1", tags: { seen: "2" } }] });
    expect(batch.body["results"]).to.deep.equal([{ index: 0, id: kept.id, created: false, error: null }]);
    await upsert({ external_id: "w3" });
    const taken = await call("PATCH", "/users/by/external_id/w3", { aliases: { crm: "w1" } });
    expect([taken.status, taken.body.error.details["user_id"]]).to.deep.equal([409, kept.id]);
    const targets = { target: { include_external_ids: ["w1"] }, contents: { en: "x" } };
    const estimate = await site.api.call("POST", "/v1/notifications/estimate", {
      token: tenant.token,
      body: { app_id: tenant.app._id, ...targets },
    });
    expect(estimate.body["external_id_missing"] ?? []).to.deep.equal([]);
  });

  it("is whom events and imports mean that name the old ids", async () => {
    const { body: old } = await upsert({ external_id: "e1" });
    const { body: kept } = await upsert({ external_id: "e2" });
    await merge("e1", "e2");
    const of = { tenantId: tenant.tenant._id, appId: tenant.app._id };
    const people = eventPeople(site.db, systemClock);
    const named = [
      { user_id: old.id, external_id: null, subscription_id: null },
      { user_id: null, external_id: "e1", subscription_id: null },
    ];
    await people.load([{ ...of, named }]);
    const found = named.map((one) => people.find(of.appId, one)?.userId);
    expect(found).to.deep.equal([kept.id, kept.id]);
    expect((await importedPeople(site.db).usersOf(of, ["e1"])).map(({ _id }) => _id)).to.deep.equal([kept.id]);
  });

  it("is refused into themselves, into nobody, and done already when the old id says so", async () => {
    await upsert({ external_id: "r1" });
    const { body: kept } = await upsert({ external_id: "r2" });
    for (const into of ["r1", "nobody"]) {
      const { status, body } = await merge("r1", into);
      expect([status, body.error.details["field"]], into).to.deep.equal([400, "into"]);
    }
    await merge("r1", "r2");
    const again = await merge("r1", "r2");
    expect([again.status, again.body.id]).to.deep.equal([200, kept.id]);
  });

  it("keeps 20 subscriptions: those that were invalid longest go, good ones are never dropped", async () => {
    const [from, into] = [await upsert({ external_id: "f1" }), await upsert({ external_id: "f2" })];
    const of = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const twenty = (user_id: string, over: (n: number) => Partial<SubscriptionRow> = () => ({})) =>
      Array.from({ length: userLimits.subscriptions }, (_, n) => aSubscription({ ...of, user_id, ...over(n) }));
    const theirs = twenty(into.body.id);
    await seed(site.db, { subscriptions: [...theirs, ...twenty(from.body.id)] });
    const refused = await merge("f1", "f2");
    expect([refused.status, refused.body.error.details["status"]]).to.deep.equal([409, "full"]);
    expect((await shown("f1")).subscriptions).to.have.length(20);
    const rows = site.db.collection<SubscriptionRow>("subscriptions");
    const last = (n: number) => new Date(Date.UTC(2026, 0, 1 + n));
    const all = await rows.find({ user_id: { $in: [from.body.id, into.body.id] } }).toArray();
    const invalid = all.filter((_, n) => n % 2 === 0);
    for (const [n, { _id }] of [...invalid.entries()].slice(1))
      await rows.updateOne({ _id }, { $set: { status: "invalid", last_active_at: last(n) } });
    const short = await merge("f1", "f2"); // 19 are invalid, 20 have to go
    expect(short.status).to.equal(409);
    await rows.updateOne({ _id: all[1]?._id ?? "" }, { $set: { status: "invalid", last_active_at: last(100) } });
    const done = await merge("f1", "f2");
    expect([done.status, done.body.subscriptions.length]).to.deep.equal([200, 20]);
    expect(new Set(done.body.subscriptions.map(({ status }) => status))).to.deep.equal(new Set(["subscribed"]));
  });

  it("stays suppressed as the other one, whose id their devices bear", async () => {
    await upsert({ external_id: "s1" });
    await upsert({ external_id: "s2" });
    const added = await call("POST", "/suppressions", { external_id: "s1", reason: "legal" });
    expect(added.status, added.text).to.equal(201);
    await merge("s1", "s2");
    const { body } = await call("GET", "/suppressions?external_id=s2");
    expect(body.data.map((one) => one["reason"])).to.deep.equal(["legal"]);
  });

  it("is there once, whatever two replicas do at the same moment", async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b, c] = [`x${round}a`, `x${round}b`, `x${round}c`];
      await upsert({ external_id: a, tags: { from: a }, subscriptions: [email(`${a}@example.com`)] });
      for (const id of [b, c]) await upsert({ external_id: id });
      const replies = await Promise.all([
        merge(a, b),
        merge(a, c, other),
        merge(a, b, other),
        call("PATCH", `/users/by/external_id/${a}`, { tags: { late: "1" } }, other),
      ]);
      expect(replies.filter(({ status }) => ![200, 404, 409].includes(status))).to.deep.equal([]);
      const [one, two] = [await shown(b), await shown(c)];
      const got = [one, two].filter((user) => (user["tags"] as Record<string, string>)["from"] === a);
      expect(new Set(got.map(({ id }) => id)).size).to.equal(1); // both, when the last to come found them merged already
      expect(got[0]?.subscriptions).to.have.length(1);
      expect((await shown(a)).id).to.equal(got[0]?.id);
    }
  });

  it("is finished by a dispatcher when the request was cut short", async () => {
    const { body: old } = await upsert({
      external_id: "k1",
      tags: { a: "1" },
      subscriptions: [email("k1@example.com")],
    });
    const { body: kept } = await upsert({ external_id: "k2" });
    await users().updateOne({ _id: old.id }, { $set: { lists: ["seg_2", "seg_1"] } });
    await users().updateOne({ _id: kept.id }, { $set: { lists: ["seg_1"] } });
    const before = await users().findOne({ _id: kept.id });
    await merge("k1", "k2");
    const row = (await mergeRows()).find(({ merge: one }) => one?.into === kept.id) ?? expect.fail("not written down");
    await users().replaceOne({ _id: kept.id }, { ...before, revision: 50 } as UserRow); // as if nobody had come to it
    const devices = site.db.collection("subscriptions");
    await devices.updateMany({ user_id: kept.id }, { $set: { user_id: old.id } });
    expect((await call("GET", "/users/by/external_id/k1")).status).to.equal(404);
    for (let run = 0; run < 2; run++) await merges(site.db).finish(row, new Date());
    const user = await shown("k1");
    expect([user.id, user["tags"], user.subscriptions.length]).to.deep.equal([kept.id, { a: "1" }, 1]);
    const { outbox = [], lists } = (await users().findOne({ _id: kept.id })) ?? {};
    const merged = outbox.filter(({ type }) => type === "user.merged").map(({ data }) => data["merged_user_id"]);
    expect([merged, lists]).to.deep.equal([[old.id], ["seg_1", "seg_2"]]);
  });

  it("is there again when the other one had been deleted by then, and stays away when they were deleted themselves", async () => {
    const { body: old } = await upsert({ external_id: "g1", tags: { a: "1" } });
    const read = (await users().findOne({ _id: old.id })) ?? expect.fail("not there");
    const work = merges(site.db);
    const gone = work.merge(read, "usr_01JDKQ4WSM2A9WTF5Q0BHM6DYS", new Date());
    expect(await gone.catch(({ code }: { code: string }) => code)).to.equal("HS_NOT_FOUND");
    expect((await shown("g1"))["tags"]).to.deep.equal({ a: "1" });
    const { body: kept } = await upsert({ external_id: "g2" });
    await call("DELETE", "/users/by/external_id/g1");
    await work.merge(read, kept.id, new Date()).catch(() => undefined);
    expect((await shown("g2"))["tags"]).to.deep.equal({});
    expect((await call("GET", "/users/by/external_id/g1")).status).to.equal(404);
  });

  it("is erased with the other one", async () => {
    const { body: old } = await upsert({ external_id: "d1" });
    const { body: kept } = await upsert({ external_id: "d2" });
    await merge("d1", "d2");
    await call("DELETE", "/users/by/external_id/d2");
    const removals = await site.db
      .collection<RemovalRow>("removals")
      .find({ kind: "user", app_id: tenant.app._id })
      .toArray();
    const theirs = removals.filter(({ _id }) => [old.id, kept.id].includes(_id));
    expect(theirs).to.have.length(2);
    for (const { keys } of theirs)
      expect(keys).to.include.members([old.id, kept.id, "external_id:d1", "external_id:d2"]);
    for (const { merge: one, ...row } of await mergeRows())
      if (one?.into === kept.id) await merges(site.db).finish({ ...row, merge: one }, new Date());
    expect(await users().countDocuments({ app_id: tenant.app._id, external_id: { $in: ["d1", "d2"] } })).to.equal(0);
  });
});
