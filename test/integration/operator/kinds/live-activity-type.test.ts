import { expect } from "chai";
import type { Collection } from "mongodb";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

type Left = { _id: string; app_id: string | undefined; type_id: string | undefined; status: string };

describe("operator: a LiveActivityType", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    await herald.start();
    for (const object of [make.plan(), make.tenant(), make.iosSecret(), make.app()]) await herald.apply(object);
    await herald.ready(make.app());
  });
  after(() => herald?.close());

  it("is refused with an enum's value of another type, until that is mended", async () => {
    const schemaOf = (value: unknown) => ({ type: "object", properties: { state: { type: "string", enum: [value] } } });
    const type = make.activityType({ contentStateSchema: schemaOf(1) });
    await herald.apply(type);
    const { status } = await herald.ready(type, "False", "SchemaInvalid");
    const said = status?.conditions?.find(({ type: kind }) => kind === "Ready")?.message;
    expect(said).to.equal("spec.contentStateSchema.properties.state.enum[0]: is not of type string");
    await herald.patch(type, { spec: { contentStateSchema: schemaOf("packed") } });
    await herald.ready(type);
  });

  it("is for iOS alone until it names its platforms", async () => {
    const type = make.activityType();
    await herald.ready(type);
    const row = () => herald.db.collection<{ _id: string; platforms: string[] }>("live_activity_types").findOne();
    expect((await row())?.platforms).to.deep.equal(["ios"]);
    await herald.patch(type, { spec: { platforms: ["ios", "android"] } });
    await until(async () => (await row())?.platforms.includes("android") === true, 25_000);
  });

  it("ends its activities and has its broadcast channels deleted as it goes", async () => {
    const type = make.activityType();
    await herald.ready(type);
    const { db } = herald;
    const row = await db.collection<LiveActivityTypeRow>("live_activity_types").findOne();
    const of = { _id: "left", app_id: row?.app_id, type_id: row?._id };
    const [activities, channels] = ["live_activities", "live_activity_channels"].map((name) =>
      db.collection<Left>(name),
    ) as [Collection<Left>, Collection<Left>];
    await activities.insertOne({ ...of, status: "running" });
    await channels.insertOne({ ...of, status: "ready" });
    await herald.remove(type);
    await until(async () => (await db.collection("live_activity_types").countDocuments()) === 0, 25_000);
    expect(await activities.findOne()).to.include({ status: "ended", ended_by: "type_deleted" });
    expect(await channels.findOne()).to.include({ status: "deleting" });
  });
});
