import { expect } from "chai";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { type SuppressionRow, suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import type { Call, Reply } from "../../../support/api/api.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anApiKey, aSubscription, aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

const refusal = ({ status, body }: Reply) => [status, body.error.code, body.error.details["field"]];
let count = 0;
const aMail = () => `p${count++}@example.com`;
const ahead = () => new Date(Date.now() + 3_600_000).toISOString();

describe("the suppression list", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path = "", call: Call = {}, of = tenant) =>
    site.api.call(method, `/v1/apps/${of.app._id}/suppressions${path}`, { token: of.token, ...call });
  const add = (body: object, headers: Record<string, string> = {}) => call("POST", "", { body, headers });
  const mail = (more: object = {}) => ({ channel: "email", address: aMail(), ...more });
  const rows = () => collectionOf<SuppressionRow>(site.db, suppressionCollection);
  const ofApp = () => ({ tenant_id: tenant.tenant._id, app_id: tenant.app._id });

  it("adds an address in its one spelling, with every member", async () => {
    const expires_at = ahead();
    const asked = { channel: "email", address: " Anna@Bücher.example", reason: "unsubscribe", expires_at };
    const { status, body } = await add({ ...asked, categories: ["news", "news"], note: "by phone" });
    expect(status).to.equal(201);
    expect(body).to.deep.include({
      app_id: tenant.app._id,
      channel: "email",
      address: "anna@xn--bcher-kva.example",
      external_id: null,
      user_id: null,
      reason: "unsubscribe",
      source: "api",
      categories: ["news"],
      note: "by phone",
      removable: true,
      expires_at,
      message_id: null,
    });
    const phone = await add({ channel: "sms", address: "+49 (151) 123-4567" });
    expect(phone.body).to.deep.include({ address: "+491511234567", reason: "manual", categories: null });
  });

  it("names the user whose address or external id it is, when that is known", async () => {
    const user = aUser({ ...ofApp(), external_id: "known" });
    const device = aSubscription({ ...ofApp(), user_id: user._id, channel: "email", token: "known@example.com" });
    await seed(site.db, { users: [user], subscriptions: [device] });
    const address = await add({ channel: "email", address: "Known@example.com" });
    const whole = await add({ external_id: "known" });
    expect([address.body["user_id"], whole.body["user_id"]]).to.deep.equal([user._id, user._id]);
    expect(whole.body).to.deep.include({ channel: null, address: null, external_id: "known" });
    expect((await add({ external_id: "unknown", channel: "ios_push" })).body).to.deep.include({ user_id: null });
  });

  it("shows what is there already, raised to the stronger reason and never lowered", async () => {
    const entry = mail();
    const first = await add(entry);
    const raised = await add({ ...entry, reason: "complaint" });
    const lower = await add({ ...entry, reason: "manual" });
    expect([first, raised, lower].map(({ status }) => status)).to.deep.equal([201, 200, 200]);
    expect([raised.body.id, lower.body.id]).to.deep.equal([first.body.id, first.body.id]);
    expect([raised.body["reason"], lower.body["reason"]]).to.deep.equal(["complaint", "complaint"]);
    expect((await add({ ...entry, channel: "email", categories: ["a"] })).body["categories"]).to.equal(null);
  });

  it("keeps the strongest reason and one entry when many add the same at once, alone and in lists", async () => {
    const entries = Array.from({ length: 20 }, () => mail());
    const reasons = ["manual", "unsubscribe", "invalid_address", "hard_bounce", "complaint", "legal"];
    const replies = await Promise.all(
      reasons.flatMap((reason) => [
        add({ entries: entries.map((entry) => ({ ...entry, reason })) }),
        ...entries.slice(0, 3).map((entry) => add({ ...entry, reason })),
      ]),
    );
    expect(replies.filter(({ status }) => status >= 300).map(({ body }) => body)).to.deep.equal([]);
    const stored = await rows()
      .find({ address: { $in: entries.map(({ address }) => address) } })
      .toArray();
    expect(stored.map(({ reason }) => reason)).to.deep.equal(entries.map(() => "legal"));
    const news = replies.map(({ status, body }) => Number(body["created"] ?? (status === 201 ? 1 : 0)));
    expect(news.reduce((sum, n) => sum + n, 0)).to.equal(entries.length);
  });

  it("takes 1,000 in few commands, and says which it did not take and why", async () => {
    const wrong = [
      { entry: {}, field: "address" },
      { entry: { address: "a@example.com", external_id: "x", channel: "email" }, field: "address" },
      { entry: { address: "a@example.com" }, field: "channel" },
      { entry: { address: "ab".repeat(32), channel: "ios_push" }, field: "channel" },
      { entry: { address: "0151 123", channel: "sms" }, field: "address" },
      { entry: { address: "nobody", channel: "email" }, field: "address" },
      { entry: mail({ expires_at: "2026-01-01T00:00:00Z" }), field: "expires_at" },
    ];
    const right = Array.from({ length: 992 }, () => mail());
    const entries = [...wrong.map(({ entry }) => entry), ...right, right[0]];
    const { status, body } = await add({ entries });
    expect([status, body["created"], body["existing"]]).to.deep.equal([200, 992, 1]);
    const errors = body["errors"] as { index: number; field: string }[]; // sound: the document says so
    expect(errors.map(({ index, field }) => [index, field])).to.deep.equal(wrong.map(({ field }, i) => [i, field]));
    expect((await add({ entries: right })).body).to.deep.include({ created: 0, existing: 992, errors: [] });
    for (const [i, { entry, field }] of wrong.entries()) {
      expect(refusal(await add(entry)), String(i)).to.deep.equal([400, "HS_VALIDATION_ERROR", field]);
    }
  });

  for (const [what, body, field] of [
    ["a list with other members beside it", { entries: [{ external_id: "x" }], note: "x" }, "entries"],
    ["an empty list", { entries: [] }, "entries"],
    ["more than 1,000", { entries: Array.from({ length: 1_001 }, () => ({ external_id: "x" })) }, "entries"],
    ["a member that is not known", { external_id: "x", why: "y" }, "why"],
    ["a reason that only we find", { external_id: "x", reason: "soft_bounce" }, "reason"],
    ["no category at all", { external_id: "x", categories: [] }, "categories"],
    ["a note that is too long", { entries: [{ external_id: "x", note: "n".repeat(501) }] }, "entries[0].note"],
  ] as const) {
    it(`refuses ${what}`, async () =>
      expect(refusal(await add(body))).to.deep.equal([400, "HS_VALIDATION_ERROR", field]));
  }

  it("gives the first reply again for an idempotency key, to one entry and to many", async () => {
    for (const body of [mail(), { entries: [mail(), mail()] }]) {
      const headers = { "Idempotency-Key": aMail() };
      const [first, again] = [await add(body, headers), await add(body, headers)];
      expect(again.body).to.deep.equal(first.body);
      expect([again.status, again.headers.get("Idempotent-Replayed")]).to.deep.equal([first.status, "true"]);
    }
  });

  it("refuses another body under a used key, in every app, and one that cannot be right as without a key", async () => {
    const headers = { "Idempotency-Key": "used" };
    const strict = await seedTenant(site.db, { app: { idempotency_mismatch: "reject" } });
    const entry = mail();
    for (const owner of [tenant, strict]) {
      await call("POST", "", { body: entry, headers }, owner);
      const { status, body } = await call("POST", "", { body: mail(), headers }, owner);
      expect([status, body.error.code]).to.deep.equal([409, "HS_CONFLICT"]);
      expect(body.error.details).to.deep.equal({ status: "key_reused", key: "used" });
    }
    expect(refusal(await add({}, headers))).to.deep.equal([400, "HS_VALIDATION_ERROR", "address"]);
    expect(refusal(await add({ entries: [mail()], note: "x" }, headers))[2]).to.equal("entries");
    expect((await add(entry, headers)).headers.get("Idempotent-Replayed")).to.equal("true");
  });

  it("lists by every filter, in both orders, page by page, and nothing of another app", async () => {
    const of = await seedTenant(site.db);
    const put = async (body: object) => (await call("POST", "", { body }, of)).body.id;
    const [a, b, c] = [
      await put({ channel: "email", address: "a@example.com", reason: "complaint", categories: ["news"] }),
      await put({ channel: "sms", address: "+4915112345678" }),
      await put({ external_id: "c", reason: "unsubscribe" }),
    ];
    await add(mail());
    const list = async (query: string) => (await call("GET", `?${query}`, {}, of)).body.data.map(({ id }) => id);
    expect(await list("")).to.deep.equal([c, b, a]);
    expect(await list("sort=created_at")).to.deep.equal([a, b, c]);
    expect(await list("channel=email&channel=sms")).to.deep.equal([b, a]);
    expect(await list("reason=complaint,unsubscribe")).to.deep.equal([c, a]);
    expect(await list("source=api&source=import")).to.deep.equal([c, b, a]);
    expect(await list("source=import")).to.deep.equal([]);
    expect(await list(`address=${encodeURIComponent(" A@EXAMPLE.com")}`)).to.deep.equal([a]);
    expect(await list(`address=${encodeURIComponent("+49 151 12345678")}`)).to.deep.equal([b]);
    expect(await list("external_id=c")).to.deep.equal([c]);
    expect(await list("category=news")).to.deep.equal([a]);
    const madeAt = (await rows().findOne({ _id: b }))?.created_at.toISOString() ?? "";
    expect(await list(`from=${madeAt}&to=${madeAt}`)).to.deep.equal([b]);
    const first = await call("GET", "?limit=2", {}, of);
    const rest = await call("GET", `?limit=2&cursor=${first.body.next_cursor}`, {}, of);
    expect([first, rest].map(({ body }) => body.data.map(({ id }) => id))).to.deep.equal([[c, b], [a]]);
    const other = await call("GET", `?category=x&cursor=${first.body.next_cursor}`, {}, of);
    expect(refusal(other)).to.deep.equal([400, "HS_VALIDATION_ERROR", "cursor"]);
    for (const [query, field] of [
      ["address=nobody", "address"],
      ["address=a@example.com&external_id=c", "external_id"],
      ["channel=fax", "channel[0]"],
      ["limit=201", "limit"],
    ])
      expect(refusal(await call("GET", `?${query}`))).to.deep.equal([400, "HS_VALIDATION_ERROR", field]);
  });

  it("is lifted by whom and as its reason says", async () => {
    for (const [reason, plain, forced] of [
      ["manual", 200, 404],
      ["unsubscribe", 200, 404],
      ["invalid_address", 200, 404],
      ["soft_bounce", 200, 404],
      ["hard_bounce", 409, 200],
      ["complaint", 409, 200],
      ["carrier_opt_out", 409, 409],
      ["legal", 409, 409],
    ] as const) {
      const { body } = await add(mail());
      await rows().updateOne({ _id: body.id }, { $set: { reason } });
      const first = await call("DELETE", `/${body.id}`);
      expect(first.status, reason).to.equal(plain);
      if (plain === 409) expect(first.body.error).to.deep.include({ code: "HS_NOT_REMOVABLE", details: { reason } });
      expect((await call("DELETE", `/${body.id}?force=true`)).status, reason).to.equal(forced);
    }
  });

  it("restores the subscription that it had made invalid, and no opt-out and nothing that something else changed", async () => {
    const optedOut = { unsubscribed_at: new Date("2026-01-01T00:00:00Z") };
    const invalid = (status_reason: string) => ({ status: "invalid", status_reason }) as const;
    for (const [reason, before, after] of [
      ["hard_bounce", invalid("hard_bounce"), "subscribed"],
      ["hard_bounce", { ...invalid("invalid_address"), ...optedOut }, "unsubscribed"],
      ["hard_bounce", invalid("token_invalid"), null],
      ["manual", invalid("hard_bounce"), null],
      ["unsubscribe", { status: "unsubscribed", status_reason: "unsubscribe", ...optedOut }, null],
      ["complaint", { status: "unsubscribed", status_reason: "complaint", ...optedOut }, null],
    ] as const) {
      const address = aMail();
      const row = aSubscription({ ...ofApp(), channel: "email", token: address, ...before });
      await seed(site.db, { subscriptions: [row] });
      const { body } = await add({ channel: "email", address, reason });
      const lifted = await call("DELETE", `/${body.id}?force=true`);
      const what = `${reason} ${before.status_reason}`;
      expect([lifted.status, lifted.body], what).to.deep.equal([200, { ok: true, restored: after !== null }]);
      const now = await site.db.collection<SubscriptionRow>("subscriptions").findOne({ _id: row._id });
      expect(now?.status, what).to.equal(after ?? before.status);
      if (after !== null) expect(now?.status_reason, what).to.equal(after === "subscribed" ? null : "api");
    }
  });

  it("is changed by keys that send, and lifted by those of an admin", async () => {
    const { row, token } = anApiKey({ tenant_id: tenant.tenant._id, scopes: ["notifications:write"] });
    await seed(site.db, { apiKeys: [row] });
    const sender = { ...tenant, token };
    const made = await call("POST", "", { body: mail() }, sender);
    expect(made.status).to.equal(201);
    expect((await call("GET", "", {}, sender)).status).to.equal(200);
    expect((await call("DELETE", `/${made.body.id}`, {}, sender)).status).to.equal(403);
  });

  it("no longer has what has ended, and takes it anew", async () => {
    const entry = mail({ reason: "legal", expires_at: ahead() });
    const { body } = await add(entry);
    await rows().updateOne({ _id: body.id }, { $set: { expires_at: new Date(Date.now() - 1_000) } });
    const found = await call("GET", `?address=${entry.address}`);
    expect(found.body.data).to.deep.equal([]);
    expect((await call("DELETE", `/${body.id}?force=true`)).status).to.equal(404);
    const again = await add({ channel: "email", address: entry.address });
    expect([again.status, again.body["reason"], again.body["expires_at"]]).to.deep.equal([201, "manual", null]);
  });
});
