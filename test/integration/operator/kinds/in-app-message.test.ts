import { expect } from "chai";
import { type InAppMessageRow, inAppMessageCollection } from "#core/storage/in-app-messages/in-app-messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { aVariant } from "../../../support/api/in-app-messages.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: an InAppMessage", () => {
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

  const rows = () => collectionOf<InAppMessageRow>(herald.db, inAppMessageCollection);
  const messageOf = async (object: Manifest): Promise<string> =>
    (await herald.conditionOf(object, "Ready"))?.message ?? "";

  it("is refused by the place of a fault, until that is mended, and leaves to REST what it does not name", async () => {
    const one = make.inAppMessage({
      variants: [aVariant({ weight_percent: 30 })],
      redisplay: { limit: 2, afterHours: 1 },
    });
    await herald.apply(one);
    await herald.ready(one, "False", "ContentInvalid");
    expect(await messageOf(one)).to.include("spec.variants: weight_percent of all must make 100");
    expect(await rows().countDocuments()).to.equal(0);
    await herald.patch(one, { spec: { variants: [aVariant()] } });
    const { status } = await herald.ready(one);
    const row = await rows().findOne();
    expect(row).to.deep.include({ name: "Hello", status: "draft", redisplay: { limit: 2, after_hours: 1 } });
    expect(row?.managed?.members).to.have.members(["name", "variants", "redisplay"]);
    expect(status).to.deep.include({ appId: row?.app_id, state: "draft" });
    await rows().updateOne({ _id: row?._id ?? "" }, { $set: { status: "paused" } }); // as the REST interface does
    await herald.patch(one, { spec: { redisplay: null, startAt: "2026-01-01T00:00:00Z" } });
    await until(async () => (await rows().findOne())?.redisplay === null, 25_000);
    expect(await rows().findOne()).to.deep.include({ status: "paused", start_at: new Date("2026-01-01T00:00:00Z") });
    await herald.remove(one);
    await herald.gone(one);
    expect(await rows().countDocuments()).to.equal(0);
  });

  it("waits for the segment that it names, which says so once it is there", async () => {
    const one = make.inAppMessage({ target: { includedSegments: ["Active"] } }, "aimed");
    await herald.apply(one);
    await herald.ready(one, "False", "ContentInvalid");
    expect(await messageOf(one)).to.include("spec.target.includedSegments[0]: is no segment of the app");
    const segment = make.segment();
    await herald.apply(segment);
    const { status } = await herald.ready(one);
    const { status: ofSegment } = await herald.ready(segment);
    expect((await rows().findOne())?.target.included_segments).to.deep.equal([ofSegment?.id]);
    await until(async () => (await herald.get(segment))?.status?.["usedBy"] !== undefined, 25_000);
    expect((await herald.get(segment))?.status?.["usedBy"]).to.deep.equal([{ type: "in_app_message", id: status?.id }]);
    for (const object of [one, segment]) await herald.remove(object);
    for (const object of [one, segment]) await herald.gone(object);
  });

  it("is not active beyond 100 of its app", async () => {
    const one = make.inAppMessage({ status: "active" }, "hundred-first");
    await herald.apply(make.inAppMessage({ name: "First" }, "first"));
    await herald.ready(make.inAppMessage({}, "first"));
    const { _id, managed: _, ...row } = (await rows().findOne()) ?? ({} as InAppMessageRow); // sound: it was made
    const others = Array.from({ length: 100 }, (_, n) => ({ ...row, _id: `${_id}${n}`, name: `n${n}`, managed: null }));
    await rows().insertMany(others.map((other) => ({ ...other, status: "active" as const })));
    await herald.apply(one);
    await herald.ready(one, "False", "PlanLimitReached");
    await herald.patch(one, { spec: { status: "paused" } });
    await herald.ready(one);
  });
});
