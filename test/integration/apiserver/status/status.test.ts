import { expect } from "chai";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { heartbeats } from "#core/storage/status/heartbeats.ts";
import { type IncidentRow, incidentCollection } from "#core/storage/status/incidents.ts";
import type { Reply } from "../../../support/api/api.ts";
import { useSite } from "../../../support/api/site.ts";
import { anApiKey, seed, seedTenant } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";

const lookedMs = 15_000; // it looks every 5 s
const aBody = (over: object = {}) => ({
  title: "Pushes are late",
  severity: "minor",
  components: ["delivery"],
  message: "We are looking into it.",
  ...over,
});
const refusal = ({ status, body }: Reply) => [status, body.error.code, body.error.details["field"]];

describe("the public status and its incidents", () => {
  const began = new Date();
  const { site, tenant } = useSite({ HERALD_OPERATING_TENANT: "operations" }, { tenant: { name: "operations" } });

  const call = (method: string, path: string, body?: object, token = tenant.token) =>
    site.api.call(method, path, { token, ...(body !== undefined && { body }) });
  const document = async () => (await site.api.call("GET", "/status.json")).body;
  const states = async (): Promise<Record<string, string>> => {
    const found = (await document())["components"] as { name: string; status: string }[]; // as the document says
    return Object.fromEntries(found.map(({ name, status }) => [name, status]));
  };
  const page = async (path = "") => fetch(`${site.api.url}/status/${path}`);

  it("is a major outage of processing until a dispatcher says that it runs", async () => {
    await until(async () => (await states())["worker"] === "major_outage", lookedMs);
    expect((await document()).status).to.equal("major_outage");
    await heartbeats(site.db).beat({ _id: "d/1", program: "dispatcher", figures: {}, at: new Date() });
    await until(async () => (await document()).status === "operational", lookedMs);
    expect(new Set(Object.values(await states()))).to.deep.equal(new Set(["operational"]));
  });

  it("needs no key, may be kept for 5 s, and may be read by pages of other hosts", async () => {
    const { headers } = await site.api.call("GET", "/status.json");
    expect(headers.get("Cache-Control")).to.equal("public, max-age=5");
    expect(headers.get("Access-Control-Allow-Origin")).to.equal("*");
  });

  it("is found without the last slash of its address, as is the reference, by who only reads", async () => {
    const leading = async (path: string, method = "GET") => {
      const reply = await fetch(site.api.url + path, { method, redirect: "manual" });
      return [reply.status, reply.headers.get("Location"), await reply.text()];
    };
    expect(await leading("/status")).to.deep.equal([308, "status/", ""]);
    expect(await leading("/docs?a=b", "HEAD")).to.deep.equal([308, "docs/?a=b", ""]);
    for (const path of ["/status", "/docs"]) expect((await fetch(site.api.url + path)).status).to.equal(200);
    for (const [path, method] of [
      ["/docs", "POST"],
      ["/l", "GET"],
      ["/ingress", "GET"],
    ] as const)
      expect((await leading(path, method))[0]).to.equal(404);
  });

  it("shows an incident and what it affects, on the page and in the feed too, until it is resolved", async () => {
    const made = await call("POST", "/v1/incidents", aBody({ title: "Late & <late>" }));
    expect([made.status, made.body.status]).to.deep.equal([201, "investigating"]);
    await until(async () => (await states())["delivery"] === "degraded", lookedMs);
    const { incidents } = (await document()) as unknown as { incidents: { id: string }[] };
    expect(incidents.map(({ id }) => id)).to.deep.equal([made.body.id]);
    const html = await page();
    expect(html.headers.get("Content-Type")).to.equal("text/html; charset=utf-8");
    expect(html.headers.get("Content-Security-Policy")).to.contain("default-src 'none'");
    expect(await html.text())
      .to.contain("Late &amp; &lt;late&gt;")
      .and.contain("Some things work less well");
    const atom = await page("feed.atom");
    expect(atom.headers.get("Content-Type")).to.equal("application/atom+xml; charset=utf-8");
    expect(await atom.text()).to.contain(`#${made.body.id}`);

    const path = `/v1/incidents/${made.body.id}`;
    const told = await call("POST", `${path}/updates`, { status: "monitoring", message: "It is mended." });
    expect([told.status, told.body.status, told.body["resolved_at"]]).to.deep.equal([201, "monitoring", null]);
    const ended = await call("POST", `${path}/updates`, { status: "resolved", message: "It is over." });
    expect(ended.body["resolved_at"]).to.be.a("string");
    const said = (ended.body["updates"] as { status: string }[]).map(({ status }) => status);
    expect(said).to.deep.equal(["resolved", "monitoring", "investigating"]);
    await until(async () => (await states())["delivery"] === "operational", lookedMs);
    const reopened = await call("POST", `${path}/updates`, { status: "investigating", message: "It is back." });
    expect(reopened.body["resolved_at"]).to.equal(null);
    expect((await call("DELETE", path)).body).to.deep.equal({ ok: true });
    expect((await call("GET", path)).status).to.equal(404);
  });

  it("records each minute of a day once, whoever looks", async () => {
    const second = await site.start({ HERALD_OPERATING_TENANT: "operations" });
    const day = () =>
      site.db.collection<{ _id: string; minutes: { api: Record<string, number> } }>("status_days").findOne();
    await until(async () => (await day()) !== null, lookedMs);
    await until(async () => (await fetch(`${second.url}/status.json`)).ok);
    const counted = Object.values((await day())?.minutes.api ?? {}).reduce((sum, count) => sum + count, 0);
    expect(counted).to.be.within(1, Math.ceil((Date.now() - began.getTime()) / 60_000) + 1);
  });

  it("lists incidents in pages, narrowed by their status, the newest first", async () => {
    const made = await Promise.all(
      ["one", "two", "three"].map((title) => call("POST", "/v1/incidents", aBody({ title }))),
    );
    const ids = made
      .map(({ body }) => body.id)
      .toSorted()
      .toReversed();
    const first = await call("GET", "/v1/incidents?limit=2&status=investigating");
    expect(first.body.data.map(({ id }) => id)).to.deep.equal(ids.slice(0, 2));
    const next = `/v1/incidents?limit=2&status=investigating&cursor=${first.body.next_cursor}`;
    expect((await call("GET", next)).body.data.map(({ id }) => id)).to.deep.equal(ids.slice(2));
    expect((await call("GET", "/v1/incidents?status=monitoring")).body.data).to.deep.equal([]);
    const changed = await call("PATCH", `/v1/incidents/${ids[0]}`, {
      severity: "critical",
      components: ["api", "sdk"],
    });
    expect(changed.body).to.deep.include({ severity: "critical", components: ["api", "sdk"], status: "investigating" });
    for (const id of ids) await call("DELETE", `/v1/incidents/${id}`);
  });

  const bad: [what: string, body: object, field: string][] = [
    ["a component that there is not", { components: ["coffee"] }, "components[0]"],
    ["a component twice", { components: ["api", "api"] }, "components"],
    ["no component", { components: [] }, "components"],
    ["an unknown severity", { severity: "bad" }, "severity"],
    ["a begin that is to come", { started_at: "2999-01-01T00:00:00Z" }, "started_at"],
    ["a member that there is not", { titel: "x" }, "titel"],
    ["too long a title", { title: "x".repeat(201) }, "title"],
  ];
  for (const [what, over, field] of bad) {
    it(`refuses an incident with ${what}`, async () => {
      expect(refusal(await call("POST", "/v1/incidents", aBody(over)))).to.deep.equal([
        400,
        "HS_VALIDATION_ERROR",
        field,
      ]);
    });
  }

  it("is none of other tenants' business, nor of keys that are bound to apps", async () => {
    const other = await seedTenant(site.db);
    const bound = anApiKey({ tenant_id: tenant.tenant._id, app_ids: [tenant.app._id] });
    const reader = anApiKey({ tenant_id: tenant.tenant._id, scopes: ["analytics:read"] });
    await seed(site.db, { apiKeys: [bound.row, reader.row] });
    for (const token of [other.token, bound.token]) {
      expect((await call("GET", "/v1/incidents", undefined, token)).status).to.equal(404);
      expect((await call("POST", "/v1/incidents", aBody(), token)).status).to.equal(404);
    }
    expect((await call("POST", "/v1/incidents", aBody(), reader.token)).status).to.equal(403);
  });

  it("leaves to its resource what a resource says, and has 100 updates at most", async () => {
    const { body } = await call("POST", "/v1/incidents", aBody());
    const rows = collectionOf<IncidentRow>(site.db, incidentCollection);
    const note = { status: "monitoring" as const, message: "x", created_at: new Date() };
    const path = `/v1/incidents/${body.id}`;
    await rows.updateOne({ _id: body.id }, { $set: { updates: Array.from({ length: 100 }, () => note) } });
    const full = await call("POST", `${path}/updates`, { status: "resolved", message: "x" });
    expect([full.status, full.body.error.details["limit"]]).to.deep.equal([409, 100]);
    const managed = {
      kind: "Incident",
      namespace: null,
      name: "late",
      uid: "u",
      policy: "Enforce",
      deletion: "Delete",
      epoch: 1,
    };
    await rows.updateOne({ _id: body.id }, { $set: { managed } as Partial<IncidentRow> });
    for (const [method, at, sent] of [
      ["PATCH", path, { severity: "major" }],
      ["POST", `${path}/updates`, { status: "resolved", message: "x" }],
      ["DELETE", path, undefined],
    ] as const) {
      const reply = await call(method, at, sent);
      expect([reply.status, reply.body.error.code]).to.deep.equal([409, "HS_MANAGED"]);
    }
    await rows.deleteOne({ _id: body.id });
  });
});
