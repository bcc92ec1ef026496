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
