import { expect } from "chai";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import { eventBatchCollection } from "#core/storage/events/batches.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { type Installation, installation } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: the settings of an App", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let id: string;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    const app = make.app({ timeZone: undefined, channels: {}, settings: { timeZone: "Europe/Berlin" } });
    for (const object of [make.namespace, make.plan(), make.tenant(), make.iosSecret(), app])
      await herald.apply(object);
    await herald.start();
    id = (await herald.ready(app)).status?.id ?? "";
  });
  after(() => herald.close());

  const rows = () => herald.db.collection<AppRow>("apps");
  const row = async () => (await rows().findOne({ _id: id }))!;
  const settle = (settings: object) => herald.patch(make.app(), { spec: { settings } });
  const byRest = (set: Partial<AppRow>) => rows().updateOne({ _id: id }, { $set: { ...set, updated_at: new Date() } });
  const messageOf = async () => (await herald.conditionOf(make.app(), "Ready"))?.message ?? "";

  it("are the resource's where it names them, and nobody's where it does not", async () => {
    const { time_zone, idempotency_mismatch, managed } = await row();
    expect([time_zone, idempotency_mismatch]).to.deep.equal(["Europe/Berlin", undefined]);
    expect(managed?.members).to.deep.equal(["name", "time_zone"]);
  });

  it("leave what REST has set alone, and are taken over when the resource says the same", async () => {
    await byRest({ idempotency_mismatch: "reject" });
    await settle({ outcomes: { directMinutes: 60 } });
    await herald.ready(make.app());
    expect(await row()).to.deep.include({ idempotency_mismatch: "reject", outcomes: { direct_minutes: 60 } });
    await settle({ idempotencyMismatch: "reject" });
    await herald.ready(make.app());
    expect((await row()).managed?.members).to.have.members(["name", "time_zone", "outcomes", "idempotency_mismatch"]);
  });

  it("go back to their default, and to REST, when the resource names them no longer", async () => {
    await settle({ idempotencyMismatch: null, outcomes: null });
    await herald.ready(make.app());
    const { idempotency_mismatch, outcomes, managed } = await row();
    expect([idempotency_mismatch, outcomes]).to.deep.equal([null, null]);
    expect(managed?.members).to.deep.equal(["name", "time_zone"]);
  });

  it("are not taken from REST before somebody consents, who learns which", async () => {
    await byRest({ import_huawei_as: "hms_push" });
    const before = await row();
    await settle({ importHuaweiAs: "android_push", timeZone: "Asia/Tokyo" });
    await herald.ready(make.app(), "False", "AdoptionNotConfirmed");
    expect(await messageOf())
      .to.contain("settings.importHuaweiAs")
      .and.not.to.contain("settings.timeZone");
    expect(await row()).to.deep.equal(before); // nothing of it is applied
    await herald.patch(make.app(), { metadata: { annotations: { "herald.dev/adopt": id } } });
    await herald.ready(make.app());
    expect(await row()).to.include({ import_huawei_as: "android_push", time_zone: "Asia/Tokyo" });
  });

  it("are refused where they are wrong, with the member", async () => {
    await settle({ timeZone: "Europe/Atlantis" });
    await herald.ready(make.app(), "False", "InvalidTimeZone");
    await settle({ timeZone: "Europe/Berlin", retentionDays: 3_650 }); // more than the plan keeps
    await herald.ready(make.app(), "False", "PlanLimitReached");
    await settle({ retentionDays: 7 });
    await herald.ready(make.app());
    expect((await row()).retention_days).to.equal(7);
    await settle({ retentionDays: null });
    await herald.ready(make.app());
  });

  it("and channels that REST has set up stay beside those of the resource", async () => {
    const { app: other } = await seedTenant(herald.db);
    const { sms } = other.channels;
    const { channels, channels_revision: revision } = await row();
    await byRest({ channels: { ...channels, ...(sms && { sms }) }, channels_revision: revision + 1 });
    await herald.patch(make.app(), {
      spec: { channels: make.app().spec && (make.app().spec as { channels: object }).channels },
    });
    await herald.ready(make.app());
    expect(Object.keys((await row()).channels)).to.have.members(["sms", "ios_push"]);
    expect((await row()).managed?.members).to.deep.equal([
      "name",
      "time_zone",
      "import_huawei_as",
      "channels.ios_push",
    ]);
    await herald.patch(make.app(), { spec: { channels: { ios: null } } });
    await herald.ready(make.app());
    expect(await row())
      .to.have.property("channels")
      .that.has.all.keys("sms");
    expect((await row()).channels.sms).to.deep.equal(sms);
  });

  it("are reported once for each generation that changed something, without a secret", async () => {
    const log = async () => {
      const batches = await collectionOf<EventBatchRow>(herald.db, eventBatchCollection).find({ app_id: id }).toArray();
      return batches.sort((a, b) => (a._id < b._id ? -1 : 1));
    };
    const known = (await log()).length;
    await settle({ timeZone: "Europe/Rome" });
    await herald.ready(make.app());
    await herald.patch(make.app(), { metadata: { labels: { nothing: "of-it" } } });
    await herald.ready(make.app());
    const batches = await log();
    expect(batches.length).to.equal(known + 1);
    const [last] = batches.slice(-1);
    expect(last?.change).to.equal(undefined); // it was made
    expect(last?.audit).to.have.length(1);
    expect(last?.audit?.[0]).to.deep.include({
      actor: { type: "resource", id: `App ${make.app().metadata.namespace}/${make.app().metadata.name}` },
      action: "app.updated",
      target: { type: "app", id },
      changes: JSON.stringify({ time_zone: { before: "Europe/Berlin", after: "Europe/Rome" } }),
    });
    parser(eventTypes["audit.created"].data)(JSON.parse(last?.events[0]?.text ?? "").data);
    expect(JSON.stringify(batches)).not.to.match(/"kid"|PRIVATE KEY/);
  });
});
