import { expect } from "chai";
import type { InAppMessageRow } from "#core/storage/in-app-messages/in-app-messages.ts";
import { aVariant } from "../../../support/api/in-app-messages.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";

let count = 0;
const aName = () => `Message ${count++}`;
const variants = [aVariant()];

describe("in-app messages", () => {
  const { site, tenant } = useSharedSite();

  const ask = (method: string, path: string, body?: object, of = tenant) =>
    site.api.call(method, `/v1/apps/${of.app._id}${path}`, { token: of.token, ...(body && { body }) });
  const call = (method: string, path: string, body?: object, of = tenant) =>
    ask(method, `/in-app-messages${path}`, body, of);
  const make = async (body: object = {}, of = tenant) =>
    (await call("POST", "", { name: aName(), variants, ...body }, of)).body;
  const makeSegment = async (of = tenant) => (await ask("POST", "/segments", { name: aName(), kind: "list" }, of)).body;
  const storedOf = (id: string) => site.db.collection<InAppMessageRow>("in_app_messages").findOne({ _id: id });

  it("are made as drafts, listed by name or age, changed and deleted, and a name is one's alone", async () => {
    const own = await seedTenant(site.db);
    const made = await call("POST", "", { name: "B", variants }, own);
    expect(made.status).to.equal(201);
    const { id, created_at: _created, updated_at: _updated, ...rest } = made.body;
    expect(id).to.match(/^iam_/);
    expect(rest).to.deep.equal({
      app_id: own.app._id,
      name: "B",
      status: "draft",
      target: { included_segments: [], excluded_segments: [] },
      triggers: [],
      redisplay: null,
      priority: 0,
      start_at: null,
      end_at: null,
      variants,
      managed: false,
    });
    const other = await make({ name: "A" }, own);
    const ids = async (query: string) => (await call("GET", query, undefined, own)).body.data.map((one) => one.id);
    expect(await ids("")).to.deep.equal([other.id, id]);
    expect(await ids("?sort=created_at")).to.deep.equal([id, other.id]);
    const { body: page } = await call("GET", "?limit=1", undefined, own);
    expect(await ids(`?limit=1&cursor=${page.next_cursor}`)).to.deep.equal([id]);
    const change = { status: "active", start_at: "2026-01-01T00:00:00+01:00", redisplay: { limit: 2, after_hours: 1 } };
    const { body: changed } = await call("PATCH", `/${id}`, change, own);
    expect(changed).to.deep.include({ ...rest, ...change, start_at: "2025-12-31T23:00:00.000Z" });
    for (const [method, path] of [
      ["POST", ""],
      ["PATCH", `/${id}`],
    ] as const) {
      const { status, body } = await call(method, path, { name: "A", variants }, own);
      expect([status, body.error.code, body.error.details["id"]]).to.deep.equal([409, "HS_ALREADY_EXISTS", other.id]);
    }
    expect((await call("DELETE", `/${id}`, undefined, own)).body).to.deep.equal({ ok: true });
    expect((await call("GET", `/${id}`, undefined, own)).status).to.equal(404);
  });

  it("name segments by id or name, which show that", async () => {
    const [first, second] = [await makeSegment(), await makeSegment()];
    const target = { included_segments: [first["name"]], excluded_segments: [second.id] };
    const made = await make({ target });
    expect(made["target"]).to.deep.equal({ included_segments: [first.id], excluded_segments: [second.id] });
    for (const { id } of [first, second])
      expect((await ask("GET", `/segments/${id}`)).body["used_by"]).to.deep.equal([
        { type: "in_app_message", id: made.id },
      ]);
    expect((await ask("DELETE", `/segments/${first.id}`)).status).to.equal(409);
    await call("DELETE", `/${made.id}`);
    expect((await ask("GET", `/segments/${first.id}`)).body["used_by"]).to.deep.equal([]);
  });

  it("refuse what they cannot be, by its place, and store nothing of it", async () => {
    const found = await make();
    const stored = await storedOf(found.id);
    const faults: [object, string][] = [
      [{ target: { included_segments: ["nobody"] } }, "target.included_segments[0]"],
      [{ target: { excluded_segments: ["seg_x"] } }, "target.excluded_segments[0]"],
      [{ target: { filters: {} } }, "target.filters"],
      [{ variants: [] }, "variants"],
      [{ variants: [aVariant({ weight_percent: 99 })] }, "variants"],
      [{ variants: [aVariant({ content: { layout: "wide" as "full" } })] }, "variants[0].content.layout"],
      [{ triggers: [{ event: "x", session: true }] }, "triggers[0]"],
      [{ redisplay: { limit: 0, after_hours: 1 } }, "redisplay.limit"],
      [{ start_at: "2026-01-02T00:00:00Z", end_at: "2026-01-01T00:00:00Z" }, "end_at"],
      [{ status: "sent" }, "status"],
      [{ name: "a\u0000b" }, "name"],
    ];
    for (const [members, field] of faults) {
      for (const [method, path] of [
        ["POST", ""],
        ["PATCH", `/${found.id}`],
      ] as const) {
        const { status, body } = await call(method, path, { name: aName(), variants, ...members });
        expect([status, body.error?.details["field"]], `${method} ${field}`).to.deep.equal([400, field]);
      }
    }
    expect(await storedOf(found.id)).to.deep.equal(stored);
  });

  it("judge an end beside the begin that is stored", async () => {
    const { id } = await make({ start_at: "2026-01-02T00:00:00Z" });
    const { status, body } = await call("PATCH", `/${id}`, { end_at: "2026-01-01T00:00:00Z" });
    expect([status, body.error.details["field"]]).to.deep.equal([400, "end_at"]);
  });

  it("are active 100 at once in an app, also where several become so at the same moment", async () => {
    const own = await seedTenant(site.db);
    const first = await make({ status: "active" }, own);
    const row = await storedOf(first.id);
    if (row === null) throw new Error("it was made");
    const others = Array.from({ length: 97 }, (_, n) => ({ ...row, _id: `${row._id}${n}`, name: `n${n}` }));
    await site.db.collection<InAppMessageRow>("in_app_messages").insertMany(others);
    const drafts = await Promise.all([1, 2, 3].map(() => make({}, own)));
    const activated = await Promise.all(drafts.map(({ id }) => call("PATCH", `/${id}`, { status: "active" }, own)));
    const made = await call("POST", "", { name: aName(), variants, status: "active" }, own);
    const refused = [...activated, made].filter(({ status }) => status === 429);
    const active = () =>
      site.db.collection("in_app_messages").countDocuments({ app_id: own.app._id, status: "active" });
    expect(await active()).to.be.at.most(100);
    expect(await active()).to.equal(98 + 4 - refused.length);
    for (const { body } of refused)
      expect([body.error.code, body.error.details["metric"]]).to.deep.equal([
        "HS_QUOTA_EXCEEDED",
        "active_in_app_messages",
      ]);
    expect(refused.length).to.be.at.least(2);
  });

  it("report each change without its texts", async () => {
    const { id } = await make();
    await call("PATCH", `/${id}`, { variants: [aVariant({ content: { body: { en: "Secret plans" } } })] });
    const { body } = await ask("GET", `/audit-log?target_id=${id}`);
    const entries = body.data as unknown as { action: string; changes: object }[]; // sound: entries of the log
    expect(entries.map(({ action }) => action)).to.have.members(["in_app_message.created", "in_app_message.updated"]);
    expect(JSON.stringify(entries)).to.include("variants_sha256").and.not.include("Secret plans");
  });
});
