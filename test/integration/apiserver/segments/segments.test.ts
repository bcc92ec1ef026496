import { expect } from "chai";
import { segmentLists } from "#core/storage/segments/lists.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import { segmentCollection } from "#core/storage/segments/segments.ts";
import { tenAMinute, untilLimited } from "../../../support/api/limited.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { aSegment } from "../../../support/rows/segments.ts";

let count = 0;
const aName = () => `Segment ${count++}`;
const gold = { all: [{ field: "tags.plan", op: "eq", value: "gold" }] };
const naming = (value: string) => ({ any: [{ field: "segment", op: "member", value }] });

describe("segments", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path: string, body?: object, of = tenant) =>
    site.api.call(method, `/v1/apps/${of.app._id}/segments${path}`, { token: of.token, ...(body && { body }) });
  const make = async (body: object, of = tenant) => (await call("POST", "", { name: aName(), ...body }, of)).body;
  const addUser = async (body: object, of = tenant) =>
    (await site.api.call("POST", `/v1/apps/${of.app._id}/users`, { token: of.token, body })).body;

  it("are made, listed by name or age, changed and deleted, and a name is one's alone", async () => {
    const own = await seedTenant(site.db);
    const made = await call("POST", "", { name: "B", filter: gold, description: "b" }, own);
    expect([made.status, made.body["name"], made.body["kind"]]).to.deep.equal([201, "B", "filter"]);
    expect(made.body).to.deep.include({ filter: gold, count: null, warnings: [], used_by: [], managed: false });
    const list = await make({ name: "A", kind: "list" }, own);
    expect(list).to.deep.include({ kind: "list", filter: null });
    const names = async (query: string) => (await call("GET", query, undefined, own)).body.data.map(({ id }) => id);
    expect(await names("")).to.deep.equal([list.id, made.body.id]);
    expect(await names("?sort=-created_at")).to.deep.equal([list.id, made.body.id]);
    expect(await names("?sort=created_at")).to.deep.equal([made.body.id, list.id]);
    const { body: page } = await call("GET", "?limit=1", undefined, own);
    expect(await names(`?limit=1&cursor=${page.next_cursor}`)).to.deep.equal([made.body.id]);
    const { body: changed } = await call("PATCH", `/${made.body.id}`, { name: "C", description: null }, own);
    expect(changed).to.deep.include({ name: "C", description: null, filter: gold });
    for (const [method, path] of [
      ["POST", ""],
      ["PATCH", `/${made.body.id}`],
    ] as const) {
      const { status, body } = await call(method, path, { name: "A", filter: gold }, own);
      expect([status, body.error.code, body.error.details["id"]]).to.deep.equal([409, "HS_ALREADY_EXISTS", list.id]);
    }
    expect((await call("DELETE", `/${made.body.id}`, undefined, own)).body).to.deep.equal({ ok: true });
    expect((await call("GET", `/${made.body.id}`, undefined, own)).status).to.equal(404);
  });

  it("are read by a key that sends notifications, which may not change them", async () => {
    const reader = await seedTenant(site.db, { key: { scopes: ["notifications:write"] } });
    const theirs = await site.api.call("GET", `/v1/apps/${reader.app._id}/segments`, { token: reader.token });
    expect(theirs.status).to.equal(200);
    const refused = await site.api.call("POST", `/v1/apps/${reader.app._id}/segments`, {
      token: reader.token,
      body: { name: "x", filter: gold },
    });
    expect([refused.status, refused.body.error.code]).to.deep.equal([403, "HS_FORBIDDEN"]);
  });

  const nested = (depth: number): object => (depth === 1 ? { all: [] } : { all: [nested(depth - 1)] });
  const one = { field: "language", op: "eq", value: "de" };
  const wide = (values: number) => ({
    field: "tags.a",
    op: "in",
    value: Array.from({ length: values }, (_, i) => `${i}`.padEnd(140, "x")),
  });
  const bad: { it: string; filter: unknown; field: string; words: RegExp }[] = [
    {
      it: "groups six deep",
      filter: nested(6),
      field: "filter.all[0].all[0].all[0].all[0].all[0]",
      words: /deeper than 5/,
    },
    {
      it: "201 conditions",
      filter: { all: Array.from({ length: 201 }, () => one) },
      field: "filter.all[200]",
      words: /200/,
    },
    { it: "more than 64 KB", filter: { all: [wide(500)] }, field: "filter", words: /65536 bytes/ },
    {
      it: "an op that the field does not have",
      filter: { all: [{ field: "session_count", op: "contains", value: "1" }] },
      field: "filter.all[0].op",
      words: /allowed: eq/,
    },
    {
      it: "a value of another type",
      filter: { all: [{ field: "created_at", op: "gt", value: 5 }] },
      field: "filter.all[0].value",
      words: /ISO 8601/,
    },
    {
      it: "an unknown field",
      filter: { any: [{ field: "colour", op: "eq", value: "x" }] },
      field: "filter.any[0].field",
      words: /not a field/,
    },
    { it: "two groups in one", filter: { all: [], any: [] }, field: "filter", words: /exactly one/ },
    { it: "no group", filter: "all", field: "filter", words: /object/ },
    {
      it: "a segment that is not there",
      filter: naming("nobody's"),
      field: "filter.any[0].value",
      words: /no segment/,
    },
  ];
  for (const { it: what, filter, field, words } of bad)
    it(`refuses a filter with ${what}, by its path, and keeps nothing`, async () => {
      const name = aName();
      const { id } = await make({ filter: gold });
      for (const [method, path, body] of [
        ["POST", "", { name, filter }],
        ["PATCH", `/${id}`, { filter }],
        ["POST", "/preview", { filter }],
      ] as const) {
        const { status, body: reply } = await call(method, path, body);
        expect([status, reply.error.details["field"]], method + path).to.deep.equal([400, field]);
        expect(reply.error.message).to.match(words);
      }
      expect(await site.db.collection<SegmentRow>(segmentCollection.name).countDocuments({ name })).to.equal(0);
      expect((await call("GET", `/${id}`)).body["filter"]).to.deep.equal(gold);
    });

  it("may name others, by name or id, but not themselves through them", async () => {
    const first = await make({ filter: gold });
    const second = await make({ filter: naming(String(first["name"])) });
    expect(second["filter"]).to.deep.equal(naming(first.id));
    const third = await make({ filter: { all: [naming(second.id)] } });
    const { status, body } = await call("PATCH", `/${first.id}`, { filter: { none: [naming(third.id)] } });
    expect([status, body.error.details["field"]]).to.deep.equal([400, "filter.none[0].any[0].value"]);
    expect(body.error.message).to.include(`through ${String(third["name"])} and ${String(second["name"])}`);
    const itself = await call("PATCH", `/${first.id}`, { filter: naming(first.id) });
    expect(itself.body.error.message).to.match(/itself$/);
    expect((await call("PATCH", `/${first.id}`, { name: aName() })).status).to.equal(200);
    expect((await call("GET", `/${first.id}`)).body["used_by"]).to.deep.equal([{ type: "segment", id: second.id }]);
  });

  it("are not deleted while another names them, but by force", async () => {
    const first = await make({ filter: gold });
    const second = await make({ filter: naming(first.id) });
    const { status, body } = await call("DELETE", `/${first.id}`);
    expect([status, body.error.code]).to.deep.equal([409, "HS_CONFLICT"]);
    expect(body.error.details).to.deep.equal({ status: "in_use", used_by: [{ type: "segment", id: second.id }] });
    expect((await call("DELETE", `/${first.id}?force=true`)).status).to.equal(200);
    expect((await call("GET", `/${first.id}`)).status).to.equal(404);
    await addUser({ external_id: "asked" });
    const explained = await call("GET", `/${second.id}/explain?external_id=asked`);
    expect([explained.status, explained.body.error.details["status"]]).to.deep.equal([409, "unusable"]);
    const target = { included_segments: [second.id] };
    const message = { app_id: tenant.app._id, target, contents: { en: "x" } };
    for (const { status, body: reply } of [
      await call("POST", "/preview", { filter: naming(second.id) }),
      await site.api.call("POST", "/v1/notifications", { token: tenant.token, body: message }),
    ])
      expect([status, reply.error.message]).to.deep.equal([
        400,
        `${String(reply.error.details["field"])}: names the segment ${first.id}, which is gone`,
      ]);
    expect((await call("PATCH", `/${second.id}`, { filter: gold })).status).to.equal(200);
  });

  it("are made once with an idempotency key, and lists are changed once", async () => {
    const repeat = async (path: string, body: object) => {
      const headers = { "Idempotency-Key": `segments-${count++}` };
      const ask = () =>
        site.api.call("POST", `/v1/apps/${tenant.app._id}/segments${path}`, { token: tenant.token, headers, body });
      const [first, again] = [await ask(), await ask()];
      expect([again.body, again.headers.get("Idempotent-Replayed")]).to.deep.equal([first.body, "true"]);
      return first.body;
    };
    const { id } = await repeat("", { name: aName(), kind: "list" });
    const user = await addUser({ external_id: "repeated" });
    const body = await repeat(`/${id}/members`, { users: [{ label: "user_id", id: user.id }] });
    expect(body["added"]).to.equal(1);
  });

  it("warn of what is probably not meant", async () => {
    const filter = {
      any: [
        { field: "tags.a", op: "neq", value: "1" },
        { field: "tags.a", op: "neq", value: "2" },
      ],
    };
    const made = await make({ filter });
    expect(made["warnings"]).to.have.length(1);
    expect(String((made["warnings"] as string[])[0])).to.match(/^filter.any: several negative conditions on tags.a/);
  });

  it("of kind list hold who was put there, and are refused a filter", async () => {
    const list = await make({ kind: "list" });
    const { id } = await addUser({ external_id: "on-list", aliases: { crm: "l-1" } });
    await addUser({ external_id: "also" });
    const users = [
      { label: "external_id", id: "on-list" },
      { label: "crm", id: "l-1" },
      { label: "user_id", id },
      { label: "external_id", id: "also" },
      { label: "external_id", id: "nobody" },
    ];
    const added = await call("POST", `/${list.id}/members`, { users });
    expect(added.body).to.deep.equal({ added: 2, missing: [users[4]] });
    expect((await call("POST", `/${list.id}/members`, { users })).body["added"]).to.equal(0);
    const member = async (who: string) => (await call("GET", `/${list.id}/explain?external_id=${who}`)).body["member"];
    expect([await member("on-list"), await member("also")]).to.deep.equal([true, true]);
    const removed = await call("DELETE", `/${list.id}/members`, { users: users.slice(0, 2) });
    expect(removed.body).to.deep.equal({ removed: 1, missing: [] });
    expect([await member("on-list"), await member("also")]).to.deep.equal([false, true]);
    for (const [path, body, status] of [
      ["", { name: aName(), kind: "list", filter: gold }, 400],
      ["", { name: aName() }, 400],
    ] as const)
      expect((await call("POST", path, body)).status).to.equal(status);
    expect((await call("PATCH", `/${list.id}`, { filter: gold })).body.error.details["field"]).to.equal("filter");
    const filtered = await make({ filter: gold });
    const conflict = await call("POST", `/${filtered.id}/members`, { users });
    expect([conflict.status, conflict.body.error.details["status"]]).to.deep.equal([409, "not_a_list"]);
    await segmentLists(site.db).empty(tenant.app._id, list.id);
    expect(await member("also")).to.equal(false);
  });

  it("say of a person what each condition found, and whether it passed", async () => {
    const subscriptions = [
      { channel: "email", token: `explain${count++}@example.com` },
      { channel: "sms", token: "+491701234567" },
    ];
    await addUser({ external_id: "explained", tags: { plan: "gold" }, subscriptions });
    const inner = await make({ filter: gold });
    const all = [
      { field: "channel", op: "eq", value: "sms" },
      { field: "segment", op: "member", value: inner.id },
      { field: "tags.none", op: "exists" },
    ];
    const { id } = await make({ filter: { all } });
    const { body } = await call("GET", `/${id}/explain?external_id=explained`);
    const conditions = body["conditions"] as { path: string; value: unknown; passed: boolean }[];
    expect(body["member"]).to.equal(false);
    expect(conditions.map(({ path, passed }) => [path, passed])).to.deep.equal([
      ["filter.all[0]", true],
      ["filter.all[1]", true],
      ["filter.all[2]", false],
    ]);
    expect(conditions[0]?.value).to.have.members(["email", "sms"]);
    expect(conditions.slice(1).map(({ value }) => value)).to.deep.equal([true, null]);
    await call("PATCH", `/${id}`, { filter: { all: all.slice(0, 2) } });
    expect((await call("GET", `/${id}/explain?external_id=explained`)).body["member"]).to.equal(true);
    expect((await call("GET", `/${id}/explain?external_id=unknown`)).status).to.equal(404);
    expect((await call("GET", `/${id}/explain`)).body.error.details["field"]).to.equal("external_id");
  });

  it("count before they are made whom a filter means, and who passes each condition", async () => {
    const own = await seedTenant(site.db);
    for (let n = 0; n < 12; n++)
      await addUser(
        {
          external_id: `p${n}`,
          tags: { plan: n < 11 ? "gold" : "silver" },
          subscriptions: [
            { channel: "email", token: `count${count++}@example.com` },
            { channel: "email", token: `count${count++}@example.com`, status: "unsubscribed" },
          ],
        },
        own,
      );
    const filter = { all: [...gold.all, { field: "subscription.status", op: "eq", value: "subscribed" }] };
    const replies = await untilLimited(() => call("POST", "/preview", { filter }, own), tenAMinute);
    const body: Record<string, unknown> = replies.map((reply) => reply.body).find((shown) => shown["is_exact"]) ?? {}; // a busy machine may count for more than a second
    expect(body).to.deep.include({ recipients: 11, users: 11, by_channel: { email: 11 } });
    expect((body["conditions"] as { passed: number }[]).map(({ passed }) => passed)).to.deep.equal([11, 12]);
    expect(body["sample"]).to.have.length(10);
    expect(replies.at(-1)?.body.error.details["limit"]).to.equal(10);
  });

  it("are a thousand of an app at most", async () => {
    const own = await seedTenant(site.db);
    await site.db
      .collection<SegmentRow>(segmentCollection.name)
      .insertMany(
        Array.from({ length: 1_000 }, (_, n) =>
          aSegment({ tenant_id: own.tenant._id, app_id: own.app._id, name: `n${n}` }),
        ),
      );
    const { status, body } = await call("POST", "", { name: "one more", kind: "list" }, own);
    expect([status, body.error.code]).to.deep.equal([429, "HS_QUOTA_EXCEEDED"]);
    expect(body.error.details).to.include({ metric: "segments", limit: 1_000 });
  });
});
