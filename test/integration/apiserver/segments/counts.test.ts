import { expect } from "chai";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SegmentCountRow, segmentCountCollection } from "#core/storage/segments/counts.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";

const gold = { all: [{ field: "tags.plan", op: "eq", value: "gold" }] };

describe("counts of segments, by REST", () => {
  const { site, tenant } = useSharedSite();

  const call = async (method: string, path: string, body: object) =>
    (await site.api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, body })).body;
  const rows = () => collectionOf<SegmentCountRow>(site.db, segmentCountCollection);
  const asked = (id: string) => rows().findOne({ _id: id });

  it("are asked for once a segment is made and when its filter changes, and not otherwise", async () => {
    const { id } = await call("POST", "/segments", { name: "Counted", filter: gold });
    const before = await asked(id);
    expect(before).to.deep.include({ app_id: tenant.app._id, lease: null, waiting_since: null, is_counting: false });
    await call("PATCH", `/segments/${id}`, { description: "x" });
    expect(await asked(id)).to.deep.equal(before);
    await call("PATCH", `/segments/${id}`, { filter: { all: [] } });
    expect((await asked(id))?.fence).to.equal((before?.fence ?? 0) + 1);
  });

  it("are asked for when somebody is put on a list, without ending one that is under way", async () => {
    const { id } = await call("POST", "/segments", { name: "Counted list", kind: "list" });
    const user = await call("POST", "/users", { external_id: "counted" });
    const before = await asked(id);
    await call("POST", `/segments/${id}/members`, { users: [{ label: "user_id", id: user.id }] });
    const after = await asked(id);
    expect(after?.asked_at).to.be.greaterThan(before?.asked_at ?? new Date());
    expect(after).to.include({ fence: before?.fence });
  });
});

describe("segments that are used, by REST", () => {
  const { site, tenant } = useSharedSite();
  const send_after = new Date(Date.now() + 3_600_000).toISOString();
  const uses = {
    message: {
      made: (id: string) => ({
        path: "/v1/notifications",
        body: { app_id: tenant.app._id, target: { included_segments: [id] }, contents: { en: "x" }, send_after },
      }),
      ended: (id: string) => ["DELETE", `/v1/notifications/${id}`],
    },
    export: {
      made: (id: string) => ({
        path: `/v1/apps/${tenant.app._id}/exports`,
        body: { type: "users", filters: { segment_id: id } },
      }),
      ended: (id: string) => ["POST", `/v1/apps/${tenant.app._id}/exports/${id}/cancel`],
    },
  } as const;

  for (const [type, { made, ended }] of Object.entries(uses))
    it(`are not deleted while a ${type} waits with them`, async () => {
      const call = (method: string, path: string, body?: object) =>
        site.api.call(method, path, { token: tenant.token, ...(body && { body }) });
      const ofApp = `/v1/apps/${tenant.app._id}/segments`;
      const { id } = (await call("POST", ofApp, { name: `Used by a ${type}`, filter: gold })).body;
      const { path, body: asked } = made(id);
      const { body: waiting } = await call("POST", path, asked);
      const { status, body } = await call("DELETE", `${ofApp}/${id}`);
      expect([status, body.error.details["used_by"]]).to.deep.equal([409, [{ type, id: waiting.id }]]);
      const [method, end] = ended(waiting.id);
      await call(method ?? "", end ?? "");
      expect((await call("DELETE", `${ofApp}/${id}`)).status).to.equal(200);
    });

  it("give the first reply to a repeat of a message once they and its template are gone, and refuse what else names them", async () => {
    const ofApp = (method: string, path: string, body: object = {}) =>
      site.api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, body });
    const content = { contents: { en: "Hello" } };
    const template = (await ofApp("POST", "/templates", { name: "Short-lived", content })).body;
    expect((await ofApp("POST", `/templates/${template.id}/publish`)).status).to.equal(200);
    const segment = (await ofApp("POST", "/segments", { name: "Short-lived", filter: { all: [] } })).body;
    const target = { included_segments: ["Short-lived"] };
    const named = { app_id: tenant.app._id, template_id: template.id, target };
    const ask = (body: object) => site.api.call("POST", "/v1/notifications", { token: tenant.token, body });
    const first = await ask({ ...named, idempotency_key: "gone" });
    expect(first.status, first.text).to.equal(202);
    for (const path of [`/templates/${template.id}`, `/segments/${segment.id}`])
      expect((await ofApp("DELETE", `${path}?force=true`)).status).to.equal(200);
    const again = await ask({ ...named, idempotency_key: "gone" });
    expect([again.status, again.body]).to.deep.equal([202, first.body]);
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    for (const other of [named, { ...named, idempotency_key: "gone", name: "another" }])
      expect((await ask(other)).body.error.details["field"]).to.equal("template_id");
  });
});
