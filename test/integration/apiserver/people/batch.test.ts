import { expect } from "chai";
import type { UpsertedUser } from "#core/schema/people/batch.ts";
import { userBatchLimits } from "#core/schema/people/batch.ts";
import type { Api, Call, Reply } from "../../../support/api/api.ts";
import { useSite } from "../../../support/api/site.ts";

const users = (count: number, name: string, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ external_id: `${name}${n}`, ...more }));
const email = (token: string, more: object = {}) => ({ channel: "email", token, ...more });
const resultsOf = ({ body }: Reply) => body["results"] as UpsertedUser[]; // the document has checked it

describe("users in batches", () => {
  const { site, tenant } = useSite({}, { plan: { subscribers: 40 } });
  let other: Api;

  before(async () => {
    other = await site.start();
  });

  const callAt = (api: Api, method: string, path: string, more: Pick<Call, "body" | "headers"> = {}) =>
    api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, ...more });
  const call = (method: string, path: string, body?: object) => callAt(site.api, method, path, body && { body });
  const post = (all: readonly unknown[], headers: Record<string, string> = {}, api = site.api) =>
    callAt(api, "POST", "/users/batch", { headers, body: { users: all } });
  const shown = async (externalId: string) => (await call("GET", `/users/by/external_id/${externalId}`)).body;

  it("are made though one of 1,000 is bad, and that one says why", async () => {
    const wanted: object[] = users(1_000, "thousand");
    wanted[417] = { external_id: "thousand417", tags: { "a.b": "1" } };
    const reply = await post(wanted);
    const results = resultsOf(reply);
    expect([reply.status, results.map(({ index }) => index)]).to.deep.equal([200, [...wanted.keys()]]);
    const bad = results.filter(({ error }) => error !== null);
    expect(bad).to.have.length(1);
    expect(bad[0]).to.deep.include({ index: 417, id: null, created: false });
    expect(bad[0]?.error).to.deep.include({ code: "HS_VALIDATION_ERROR" });
    expect(bad[0]?.error?.details).to.deep.include({ field: "tags.a.b" });
    expect(results.filter(({ created }) => created)).to.have.length(999);
    expect((await shown("thousand999")).id).to.equal(results[999]?.id);
    expect((await call("GET", "/users/by/external_id/thousand417")).status).to.equal(404);
    const events = await site.db.collection("users").countDocuments({ external_id: /^thousand/, revision: 0 });
    expect(events).to.equal(999);
  });

  for (const { it: name, user, code } of [
    { it: "that is no object", user: "anna", code: "HS_VALIDATION_ERROR" },
    { it: "without an id", user: { tags: {} }, code: "HS_VALIDATION_ERROR" },
    { it: "of an id that faulty programs send", user: { external_id: "null" }, code: "HS_VALIDATION_ERROR" },
    {
      it: "in a time zone that does not exist",
      user: { external_id: "b", timezone: "Mars/Base" },
      code: "HS_VALIDATION_ERROR",
    },
    {
      it: "of an alias that another has",
      user: { external_id: "b", aliases: { crm: "claimed" } },
      code: "HS_ALIAS_CLAIMED",
    },
    {
      it: "with a token that is none",
      user: { external_id: "b", subscriptions: [email("anna@")] },
      code: "HS_VALIDATION_ERROR",
    },
  ]) {
    it(`refuse one ${name}, and take its neighbours`, async () => {
      await call("POST", "/users", { external_id: "claims", aliases: { crm: "claimed" } });
      const results = resultsOf(await post([{ external_id: "left" }, user, { external_id: "right" }]));
      expect(results.map(({ error }) => error?.code ?? null)).to.deep.equal([null, code, null]);
      expect((await call("GET", "/users/by/external_id/b")).status).to.equal(404);
    });
  }

  for (const { it: name, all } of [
    { it: "none", all: [] },
    { it: "1,001", all: users(userBatchLimits.users + 1, "many") },
  ]) {
    it(`are refused as a whole when there are ${name}`, async () => {
      const { status, body } = await post(all);
      expect([status, body.error.details["field"]]).to.deep.equal([400, "users"]);
      expect((await call("GET", "/users/by/external_id/many0")).status).to.equal(404);
    });
  }

  it("are changed as POST changes one: maps are merged, and one event says what changed", async () => {
    await call("POST", "/users", { external_id: "c0", tags: { plan: "pro", old: "1" }, aliases: { crm: "c0" } });
    const results = resultsOf(await post([{ aliases: { crm: "c0" }, tags: { old: null, age: 7 }, language: "de" }]));
    const user = await shown("c0");
    expect(results).to.deep.equal([{ index: 0, id: user.id, created: false, error: null }]);
    expect(user).to.deep.include({ tags: { plan: "pro", age: "7" }, language: "de" });
    const row = await site.db.collection("users").findOne({ external_id: "c0" });
    expect(row).to.deep.include({ revision: 1, changed: ["language", "tags.old", "tags.age"] });
  });

  it("are written in the order of the items that name the same user or address", async () => {
    const token = "moves@example.com";
    const results = resultsOf(
      await post([
        { external_id: "o1", tags: { step: "1", first: "1" }, subscriptions: [email(token)] },
        { aliases: { crm: "o" }, tags: { by: "alias" } },
        { external_id: "o2", subscriptions: [email(token)] },
        { external_id: "o1", aliases: { shop: "o" }, tags: { step: "2" } },
        { external_id: "o3", aliases: { crm: "o" } },
        { external_id: "o4", aliases: { shop: "o" } },
      ]),
    );
    expect(results.map(({ created }) => created)).to.deep.equal([true, true, true, false, false, false]);
    expect(results.map(({ error }) => error?.code ?? null).slice(4)).to.deep.equal([null, "HS_ALIAS_CLAIMED"]);
    expect(results[4]?.id).to.equal(results[1]?.id);
    const [o1, o2] = [await shown("o1"), await shown("o2")];
    expect(o1).to.deep.include({ tags: { step: "2", first: "1" }, subscriptions: [] });
    expect(o2.subscriptions).to.have.length(1);
  });

  it("get their subscriptions, and the suppression list follows what they say", async () => {
    const token = "subscribed@example.com";
    const off = "off@example.com";
    await post([{ external_id: "s1", subscriptions: [email(token), email(off, { status: "unsubscribed" })] }]);
    const user = await shown("s1");
    expect(user.subscriptions.map(({ status }) => status)).to.deep.equal(["subscribed", "unsubscribed"]);
    expect(user.subscriptions.map((one) => one["external_id"])).to.deep.equal(["s1", "s1"]);
    const entries = await call("GET", `/suppressions?address=${encodeURIComponent(off)}`);
    expect(entries.body.data).to.have.length(1);
    await post([
      { external_id: "s1", subscriptions: [email(off, { status: "subscribed" }), email("third@example.com")] },
    ]);
    expect((await shown("s1")).subscriptions.map(({ status }) => status)).to.deep.equal(Array(3).fill("subscribed"));
  });

  it("are refused one by one when the plan has no room for their subscriptions", async () => {
    await site.db.collection("subscriptions").deleteMany({ app_id: tenant.app._id });
    const api = await site.start(); // which has counted none yet
    const wanted = users(5, "q").map((user, n) => ({
      ...user,
      subscriptions: Array.from({ length: 10 }, (_, i) => email(`q${n}-${i}@example.com`)),
    }));
    const results = resultsOf(await post([...wanted, { external_id: "q5" }], {}, api));
    expect(results.map(({ error }) => error?.code ?? null)).to.deep.equal([
      ...Array(4).fill(null),
      "HS_QUOTA_EXCEEDED",
      null,
    ]);
    expect(results[4]?.error?.details).to.deep.include({ metric: "subscribers", limit: 40, used: 40, needed: 10 });
    expect((await call("GET", "/users/by/external_id/q4")).status).to.equal(404);
    await site.db.collection("subscriptions").deleteMany({ app_id: tenant.app._id });
  });

  it("are answered once for an idempotency key, and made once", async () => {
    const key = { "Idempotency-Key": "a-batch" };
    const first = await post(users(3, "once"), key);
    const again = await post(users(3, "once"), key);
    expect([again.status, again.headers.get("Idempotent-Replayed")]).to.deep.equal([200, "true"]);
    expect(again.body).to.deep.equal(first.body);
  });

  it("are said to be made by the attempt that goes on where one was cut short", async () => {
    const key = { "Idempotency-Key": "cut-short" };
    const first = await post(users(3, "cut"), key);
    await site.db
      .collection("replies")
      .updateMany({ reply: { $ne: null } }, { $set: { reply: null, held_until: new Date(0) } });
    expect(resultsOf(await post(users(3, "cut"), key))).to.deep.equal(resultsOf(first));
  });

  it("keep what each of two replicas says of the same users at the same moment", async function () {
    const tagged = (tag: string, from: number) =>
      users(200, "both").map((user, n) => ({ ...user, tags: { [tag]: "1", [`n${from + (n % 3)}`]: "1" } }));
    await post(users(100, "both"));
    const rounds = [0, 3, 6].flatMap((from) => [
      post(tagged("left", from), {}, site.api),
      post(tagged("right", from).toReversed(), {}, other),
    ]);
    const results = (await Promise.all(rounds)).flatMap(resultsOf);
    expect(results.filter(({ error }) => error !== null)).to.deep.equal([]);
    expect(results.filter(({ created }) => created)).to.have.length(100);
    const rows = await site.db
      .collection("users")
      .find({ external_id: /^both\d/ })
      .toArray();
    expect(rows).to.have.length(200);
    const lost = rows.filter((row) => Object.keys(row["tags"] as object).length !== 5);
    expect(lost.map((row) => row["external_id"])).to.deep.equal([]);
  });
});
