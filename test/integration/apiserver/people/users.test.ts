import { expect } from "chai";
import { userLimits } from "#core/schema/people/user.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aSubscription, seed } from "../../../support/rows/fixtures.ts";

const hex = (digit: string) => digit.repeat(64);

describe("users and subscriptions", () => {
  const { site, tenant } = useSharedSite();
  let base: string;

  before(async () => {
    base = `/v1/apps/${tenant.app._id}`;
  });

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, base + path, { token: tenant.token, ...(body !== undefined && { body }) });
  const upsert = (body: object) => call("POST", "/users", body);
  const webKeys = {
    p256dh: Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString("base64url"),
    auth: Buffer.alloc(16, 2).toString("base64url"),
  };

  it("makes a user, then updates the same one by any of its ids", async () => {
    const made = await upsert({ external_id: "u1", aliases: { crm: "1" }, tags: { plan: "pro", age: 7, vip: true } });
    expect([made.status, made.body["tags"]]).to.deep.equal([201, { plan: "pro", age: "7", vip: "true" }]);
    const changed = await upsert({ aliases: { crm: "1", shop: "9" }, tags: { age: null, vip: "", city: "Rome" } });
    expect(changed.status).to.equal(200);
    expect(changed.body).to.deep.include({
      id: made.body.id,
      external_id: "u1",
      aliases: { crm: "1", shop: "9" },
      tags: { plan: "pro", city: "Rome" },
    });
    for (const by of [`external_id/u1`, `crm/1`, `shop/9`, `user_id/${made.body.id}`]) {
      expect((await call("GET", `/users/by/${by}`)).body.id).to.equal(made.body.id);
    }
  });

  it("refuses a body that names nobody, also under a key that was used", async () => {
    const headers = { "Idempotency-Key": "used" };
    const post = (body: object) => site.api.call("POST", `${base}/users`, { token: tenant.token, headers, body });
    expect((await post({ external_id: "keyed" })).status).to.equal(201);
    const { status, body } = await post({});
    expect([status, body.error.details["field"]]).to.deep.equal([400, "external_id"]);
  });

  it("finds nobody by a label that takes in a part of their id", async () => {
    await upsert({ aliases: { crm: "x:1" } });
    expect((await call("GET", "/users/by/crm/x%3A1")).status).to.equal(200);
    expect((await call("GET", "/users/by/crm%3Ax/1")).status).to.equal(404);
  });

  it("gives a user that was found by an alias the external id it did not have", async () => {
    const made = await upsert({
      aliases: { crm: "20" },
      subscriptions: [{ channel: "email", token: "x20@example.com" }],
    });
    const named = await upsert({ external_id: "u20", aliases: { crm: "20" } });
    expect([named.status, named.body.id, named.body["external_id"]]).to.deep.equal([200, made.body.id, "u20"]);
    expect(named.body.subscriptions[0]?.["external_id"]).to.equal("u20");
  });

  it("never merges: an alias of another user is a conflict that names it", async () => {
    const anna = await upsert({ external_id: "anna", aliases: { crm: "30" } });
    const bert = await upsert({ external_id: "bert" });
    const wanted = [
      upsert({ external_id: "carl", aliases: { crm: "30" } }),
      upsert({ external_id: "bert", aliases: { crm: "30" } }),
      call("PATCH", `/users/by/user_id/${bert.body.id}`, { aliases: { crm: "30" } }),
    ];
    for (const { status, body } of await Promise.all(wanted)) {
      expect(status).to.equal(409);
      expect(body.error).to.deep.include({
        code: "HS_ALIAS_CLAIMED",
        details: { label: "crm", user_id: anna.body.id },
      });
    }
  });

  it("checks a body by the bounds of a user before it asks whose an alias is", async () => {
    await upsert({ external_id: "dora", aliases: { crm: "31" } });
    await upsert({ external_id: "emil" });
    const body = { aliases: { crm: "31" }, properties: { long: "x".repeat(userLimits.propertyCharacters) } };
    const wanted = [upsert({ external_id: "emil", ...body }), call("PATCH", "/users/by/external_id/emil", body)];
    for (const reply of await Promise.all(wanted)) {
      expect([reply.status, reply.body.error?.details["field"]]).to.deep.equal([400, "properties"]);
    }
  });

  it("makes one user of many calls at the same moment", async () => {
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => upsert({ external_id: "race", tags: { [`t${n}`]: "1" } })),
    );
    expect(new Set(replies.map(({ body }) => body.id)).size).to.equal(1);
    expect(replies.filter(({ status }) => status === 201)).to.have.length(1);
    const { body } = await call("GET", "/users/by/external_id/race");
    expect(Object.keys(body["tags"] as object)).to.have.length(10);
  });

  it("changes and clears what PATCH names, and leaves the rest", async () => {
    await upsert({ external_id: "p1", language: "de", country: "DE", properties: { a: { b: [1] }, c: 1 } });
    const { body } = await call("PATCH", "/users/by/external_id/p1", {
      language: null,
      timezone: "Europe/Rome",
      properties: { c: null, d: { $x: 1, "e.f": 2 } },
    });
    expect(body).to.deep.include({
      language: null,
      country: "DE",
      timezone: "Europe/Rome",
      properties: { a: { b: [1] }, d: { $x: 1, "e.f": 2 } },
    });
  });

  it("removes ids that PATCH sets to null, also the last one of several users", async () => {
    for (const id of ["n1", "n2"]) {
      const { body } = await upsert({ external_id: id });
      const cleared = await call("PATCH", `/users/by/external_id/${id}`, { external_id: null });
      expect([cleared.status, cleared.body["external_id"], cleared.body.id]).to.deep.equal([200, null, body.id]);
      expect((await call("GET", `/users/by/external_id/${id}`)).status).to.equal(404);
    }
  });

  it("deletes a user with the subscriptions", async () => {
    const { body } = await upsert({ external_id: "gone", subscriptions: [{ channel: "ios_push", token: hex("a") }] });
    const [subscription] = body.subscriptions;
    expect((await call("DELETE", "/users/by/external_id/gone")).body).to.deep.equal({ ok: true });
    expect((await call("GET", "/users/by/external_id/gone")).status).to.equal(404);
    expect((await call("GET", `/subscriptions/${subscription?.id}`)).status).to.equal(404);
  });

  for (const { it: name, body, field } of [
    { it: "no id at all", body: { tags: {} }, field: "external_id" },
    { it: "an id that bad client code sends for everyone", body: { external_id: "null" }, field: "external_id" },
    { it: "the all-zero id", body: { aliases: { crm: "00000000-0000-0000-0000-000000000000" } }, field: "aliases.crm" },
    { it: "an alias label of ours", body: { aliases: { user_id: "x" } }, field: "aliases.user_id" },
    { it: "a tag with a dot", body: { external_id: "x", tags: { "a.b": "1" } }, field: "tags.a.b" },
    { it: "a tag that begins with a dollar", body: { external_id: "x", tags: { $a: "1" } }, field: "tags.$a" },
    { it: "a tag that is a list", body: { external_id: "x", tags: { a: [1] } }, field: "tags.a" },
    { it: "a time zone that does not exist", body: { external_id: "x", timezone: "Mars/Base" }, field: "timezone" },
    { it: "a member it does not know", body: { external_id: "x", emial: "a" }, field: "emial" },
    {
      it: "too many aliases over time",
      body: { external_id: "many", aliases: { one_more: "1" } },
      field: "aliases",
    },
    {
      it: "a token that is no token",
      body: { external_id: "x", subscriptions: [{ channel: "ios_push", token: "zz" }] },
      field: "subscriptions[0].token",
    },
  ]) {
    it(`refuses ${name}`, async () => {
      if (field === "aliases") {
        const aliases = Array.from({ length: userLimits.aliases }, (_, n) => [`label${n}`, `many${n}`]);
        await upsert({ external_id: "many", aliases: Object.fromEntries(aliases) });
      }
      const reply = await upsert(body);
      expect([reply.status, reply.body.error?.details["field"]]).to.deep.equal([400, field]);
      expect((await call("GET", "/users/by/external_id/x")).status).to.equal(404);
    });
  }

  it("keeps each address in one spelling and shows it masked", async () => {
    const { body } = await upsert({
      external_id: "s1",
      subscriptions: [
        { channel: "ios_push", token: hex("B") },
        { channel: "android_push", token: "cAbCdEf-123:APA91bG_longEnoughToBeARegistrationToken" },
        { channel: "web_push", token: "https://push.example.com/send/abc12345678", web: webKeys },
        { channel: "email", token: " Anna@Bücher.Example " },
      ],
    });
    expect(body.subscriptions.map((one) => one["token_masked"])).to.deep.equal([
      "•••bbbbbbbb",
      "•••ionToken",
      "•••12345678",
      "a•••@xn--bcher-kva.example",
    ]);
    const stored = await site.db.collection("subscriptions").findOne({ external_id: "s1", channel: "email" });
    expect(stored?.["token"]).to.equal("anna@xn--bcher-kva.example");
  });

  for (const { it: name, body, field } of [
    { it: "an iOS token that is too short", body: { channel: "ios_push", token: "ab".repeat(31) }, field: "token" },
    { it: "an iOS token of odd length", body: { channel: "ios_push", token: "a".repeat(65) }, field: "token" },
    { it: "an FCM token with a space", body: { channel: "android_push", token: "a b".repeat(20) }, field: "token" },
    {
      it: "a push endpoint over plain http",
      body: { channel: "web_push", token: "http://x.example/1", web: webKeys },
      field: "token",
    },
    { it: "a browser without keys", body: { channel: "web_push", token: "https://x.example/1" }, field: "web" },
    {
      it: "a browser with a short secret",
      body: { channel: "web_push", token: "https://x.example/1", web: { ...webKeys, auth: "AAAA" } },
      field: "web.auth",
    },
    { it: "keys without a browser", body: { channel: "email", token: "a@example.com", web: webKeys }, field: "web" },
    { it: "an address without a domain", body: { channel: "email", token: "anna@" }, field: "token" },
    { it: "two addresses", body: { channel: "email", token: "a@example.com,b@example.com" }, field: "token" },
    { it: "a line break in an address", body: { channel: "email", token: "a@example.com\nBcc: b" }, field: "token" },
    { it: "a channel that does not exist", body: { channel: "fax", token: "1" }, field: "channel" },
    {
      it: "a device in no time zone",
      body: { channel: "email", token: "a@example.com", device: { timezone: "X/Y" } },
      field: "device.timezone",
    },
  ]) {
    it(`refuses ${name}`, async () => {
      await upsert({ external_id: "refused" });
      const reply = await call("POST", "/users/by/external_id/refused/subscriptions", body);
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, field]);
    });
  }

  it("moves a known token to the user who registers it now", async () => {
    await upsert({ external_id: "m1", subscriptions: [{ channel: "email", token: "m@example.com", language: "it" }] });
    await upsert({ external_id: "m2" });
    const moved = await call("POST", "/users/by/external_id/m2/subscriptions", {
      channel: "email",
      token: "M@example.com",
    });
    expect([moved.status, moved.body["external_id"], moved.body["language"]]).to.deep.equal([200, "m2", "it"]);
    expect((await call("GET", "/users/by/external_id/m1")).body.subscriptions).to.deep.equal([]);
  });

  it("registers one subscription when the same token comes many times at once", async () => {
    await upsert({ external_id: "r1" });
    const body = { channel: "ios_push", token: hex("c") };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => call("POST", "/users/by/external_id/r1/subscriptions", body)),
    );
    expect(replies.filter(({ status }) => status >= 300)).to.deep.equal([]);
    expect(new Set(replies.map((reply) => reply.body.id)).size).to.equal(1);
    expect(replies.filter(({ status }) => status === 201)).to.have.length(1);
  });

  it("unsubscribes, subscribes again and deletes", async () => {
    const { body } = await upsert({
      external_id: "d1",
      subscriptions: [{ channel: "email", token: "d1@example.com" }],
    });
    const path = `/subscriptions/${body.subscriptions[0]?.id}`;
    const off = await call("PATCH", path, { status: "unsubscribed", test_device: true });
    expect(off.body).to.deep.include({ status: "unsubscribed", status_reason: "api", test_device: true });
    expect(off.body["unsubscribed_at"]).to.be.a("string");
    const on = await call("PATCH", path, { status: "subscribed" });
    expect(on.body).to.deep.include({ status: "subscribed", status_reason: null, unsubscribed_at: null });
    expect((await call("DELETE", path)).body).to.deep.equal({ ok: true });
    expect((await call("GET", path)).status).to.equal(404);
  });

  it("keeps the number at an app's icon as the app says it", async () => {
    const { body } = await upsert({ external_id: "b1", subscriptions: [{ channel: "ios_push", token: hex("b") }] });
    const path = `/subscriptions/${body.subscriptions[0]?.id}`;
    expect((await call("GET", path)).body).to.deep.include({ badge: null });
    for (const badge of [7, 0]) expect((await call("PATCH", path, { badge })).body).to.deep.include({ badge });
    for (const badge of [-1, null, 100_000, 1.5])
      expect((await call("PATCH", path, { badge })).body.error.details).to.include({ field: "badge" });
    expect((await call("GET", path)).body).to.deep.include({ badge: 0 });
  });

  it("makes an invalid subscription good again with a new token, but not with another's", async () => {
    const { body } = await upsert({
      external_id: "t1",
      subscriptions: [
        { channel: "ios_push", token: hex("d") },
        { channel: "ios_push", token: hex("e") },
      ],
    });
    const [first] = body.subscriptions;
    await site.db.collection("subscriptions").updateOne({ _id: first?.id as never }, { $set: { status: "invalid" } });
    const taken = await call("PATCH", `/subscriptions/${first?.id}`, { token: hex("e") });
    expect([taken.status, taken.body.error.code]).to.deep.equal([409, "HS_ALREADY_EXISTS"]);
    const renewed = await call("PATCH", `/subscriptions/${first?.id}`, { token: hex("f") });
    expect(renewed.body["status"]).to.equal("subscribed");
  });

  it("keeps 20 subscriptions of a user: an invalid one makes room, a good one does not", async () => {
    const user = await upsert({ external_id: "full" });
    const ids = { tenant_id: tenant.tenant._id, app_id: tenant.app._id, user_id: user.body.id };
    const old = aSubscription({ ...ids, status: "invalid" });
    const good = Array.from({ length: userLimits.subscriptions - 1 }, () => aSubscription(ids));
    await seed(site.db, { subscriptions: [old, ...good] });
    const add = (digit: string) =>
      call("POST", "/users/by/external_id/full/subscriptions", { channel: "ios_push", token: digit.repeat(66) });
    expect((await add("1")).status).to.equal(201);
    expect((await call("GET", `/subscriptions/${old._id}`)).status).to.equal(404);
    const refused = await add("2");
    expect([refused.status, refused.body.error.details["limit"]]).to.deep.equal([409, 20]);
  });
});
