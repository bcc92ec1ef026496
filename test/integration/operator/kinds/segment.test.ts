import { expect } from "chai";
import { announcer } from "#core/queue/announce.ts";
import { subjects } from "#core/queue/subjects.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import { segmentCollection } from "#core/storage/segments/segments.ts";
import { removalCollection } from "#core/storage/work/removals.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

const naming = (value: string) => ({ all: [{ field: "segment", op: "member", value }] });

describe("operator: a Segment", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    await herald.start(); // its next resync is ten minutes away
    for (const object of [make.plan(), make.tenant(), make.app({ channels: {} })]) await herald.apply(object);
    await herald.ready(make.app());
  });
  after(() => herald?.close());

  const rows = () => collectionOf<SegmentRow>(herald.db, segmentCollection);
  const messageOf = async (object: Manifest): Promise<string> =>
    (await herald.conditionOf(object, "Ready"))?.message ?? "";
  const remove = async (...objects: Manifest[]): Promise<void> => {
    for (const object of objects) await herald.remove(object);
    for (const object of objects) await herald.gone(object);
  };

  it("is refused with a faulty filter by the path of the fault, until that is mended", async () => {
    const filterOf = (op: string) => ({ all: [{ any: [{ field: "tags.plan", op, value: "gold" }] }] });
    const segment = make.segment({ filter: filterOf("is") });
    await herald.apply(segment);
    await herald.ready(segment, "False", "FilterInvalid");
    expect(await messageOf(segment)).to.match(/^spec\.filter\.all\[0\]\.any\[0\]\.op: is not an op; allowed: eq, /);
    expect(await rows().countDocuments()).to.equal(0);
    await herald.patch(segment, { spec: { filter: filterOf("eq") } });
    await herald.ready(segment);
    expect(await rows().findOne()).to.deep.include({ name: "Active", kind: "filter", filter: filterOf("eq") });
    await remove(segment);
  });

  it("names another by name, once that is there, and stays with it when it is called otherwise", async () => {
    const outer = make.segment({ name: "Outer", filter: naming("Inner") }, "outer");
    const inner = make.segment({ name: "Inner" }, "inner");
    await herald.apply(outer);
    await herald.ready(outer, "False", "FilterInvalid");
    expect(await messageOf(outer)).to.include("spec.filter.all[0].value: is no segment of the app");
    await herald.apply(inner);
    const [id, outerId] = [await herald.ready(inner), await herald.ready(outer)].map(({ status }) => status?.id ?? "");
    expect(await rows().findOne({ name: "Outer" })).to.deep.include({ filter: naming(id ?? ""), names: [id] });
    const usedBy = async () => (await herald.get(inner))?.status?.["usedBy"];
    await until(async () => (await usedBy()) !== undefined, 25_000);
    expect(await usedBy()).to.deep.equal([{ type: "segment", id: outerId }]);
    await herald.patch(inner, { spec: { name: "Innermost" } });
    await herald.ready(inner);
    await herald.ready(outer, "False", "FilterInvalid"); // it says a name that nobody has
    expect(await rows().findOne({ _id: outerId ?? "" })).to.deep.include({ names: [id] });
    await herald.patch(outer, { spec: { filter: naming(id ?? "") } });
    await herald.ready(outer);
    await herald.patch(inner, { spec: { filter: naming("Outer") } });
    await herald.ready(inner, "False", "FilterInvalid");
    expect(await messageOf(inner)).to.include("must not lead to the segment itself, through Outer");
    await remove(outer, inner);
  });

  it("says how many it has as soon as they are counted, what names it, and what is probably not meant", async () => {
    const segment = make.segment({ filter: { all: [] } });
    await herald.apply(segment);
    const { status } = await herald.ready(segment);
    const id = status?.id ?? "";
    expect(status?.["warnings"]).to.deep.equal(["spec.filter.all: is empty, so it is true for everyone"]);
    expect(status).to.not.have.any.keys("users", "recipients", "countedAt", "usedBy");
    const { changed } = announcer({ nats: herald.nats, subjects: subjects(herald.id) });
    const counted_at = new Date("2026-11-01T10:00:00Z");
    await rows().updateOne({ _id: id }, { $set: { count: 3, by_channel: { sms: 1, email: 2 }, counted_at } });
    changed(segmentCollection.name, id);
    await until(async () => (await herald.get(segment))?.status?.["users"] === 3, 25_000);
    expect((await herald.get(segment))?.status).to.deep.include({
      recipients: [
        { channel: "email", count: 2 },
        { channel: "sms", count: 1 },
      ],
      countedAt: "2026-11-01T10:00:00.000Z",
    });
    await remove(segment);
  });

  it("is a list whose members are not the resource's, and has it emptied as it goes", async () => {
    const list = make.segment({ name: "Testers", kind: "list", filter: undefined }, "testers");
    await herald.apply(list);
    const id = (await herald.ready(list)).status?.id ?? "";
    expect(await rows().findOne({ _id: id })).to.deep.include({ kind: "list", filter: null, names: [] });
    await remove(list);
    expect(await rows().findOne({ _id: id })).to.equal(null);
    const removal = await collectionOf<{ _id: string; kind: string }>(herald.db, removalCollection).findOne({
      _id: id,
    });
    expect(removal).to.include({ kind: "segment" });
  });

  it("takes over none of the other kind", async () => {
    const first = make.segment({ deletionPolicy: "Retain" }, "first");
    await herald.apply(first);
    const id = (await herald.ready(first)).status?.id ?? "";
    await remove(first);
    const second = make.segment({ kind: "list", filter: undefined, externalName: id }, "second");
    await herald.apply({ ...second, metadata: { ...second.metadata, annotations: { "herald.dev/adopt": id } } });
    await herald.ready(second, "False", "KindDiffers");
    expect(await rows().findOne({ _id: id })).to.deep.include({ kind: "filter", managed: null });
    await remove(second);
  });
});
