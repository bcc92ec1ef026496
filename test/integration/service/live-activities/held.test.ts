import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { type LiveSystem, startLiveActivities } from "../../../support/live-activities/activities.ts";
import { seedDevices } from "../../../support/system/sending.ts";
import { expectUsageIsExact } from "../../../support/system/usage.ts";
import { until } from "../../../support/until.ts";

describe("what waits for a device's token", () => {
  let sending: LiveSystem["sending"];
  let live: LiveSystem["live"];
  let names = 0;

  before(async () => {
    ({ sending, live } = await startLiveActivities());
  });
  after(() => sending?.close());
  afterEach(() => sending.apns.script({}));

  /** An activity that was started on one device, which has not reported its token. */
  const started = async () => {
    const [device] = (await seedDevices(sending.system, 1)) as [SubscriptionRow]; // one was made
    const activity_id = `order-${++names}`;
    await live.startOn(device, activity_id);
    return { device, activity_id };
  };

  it("is given up when it has waited too long, and what is over is ended", async () => {
    const { device, activity_id } = await started();
    const held = await live.ended(await live.send("update", { activity_id, content_state: { step: 1 } }));
    const { db } = sending.system;
    const past = new Date(Date.now() - 1_000);
    await db
      .collection("live_activity_recipients")
      .updateOne({ subscription_id: device._id }, { $set: { hold_until: past } });
    await db.collection("live_activities").updateOne({ activity_id }, { $set: { ends_at: past, due_at: past } });
    await until(async () => (await live.deliveries(held._id))[0]?.status === "expired");
    const { body } = await live.ask("GET", `/live-activities/Order/activities/${activity_id}`);
    await until(
      async () => (await db.collection("live_activities").findOne({ activity_id }))?.["status"] === "ended",
      10_000,
    );
    expect(body["recipients"]).to.include({ starting: 1 });
    const late = { kind: "update", activity_id, token: "ab".repeat(40) };
    const { status } = await live.ask("PUT", live.tokensOf(device), late);
    expect(status).to.equal(409);
  });

  it("does not end the activity there when Apple refuses the end", async () => {
    const { device, activity_id } = await started();
    const end = await live.send("end", { activity_id, content_state: { step: 1 } });
    await until(async () => (await live.deliveries(end))[0]?.status === "scheduled");
    sending.apns.script({ answers: [{ address_prefix: "", status: 413, reason: "PayloadTooLarge" }] });
    await live.shows(device, activity_id);
    await until(async () => (await live.deliveries(end))[0]?.status === "errored");
    const { body } = await live.ask("GET", `/live-activities/Order/activities/${activity_id}`);
    expect(body["recipients"]).to.include({ active: 1, ended: 0 });
    await until(() => expectUsageIsExact(sending.system).then(...toBoolean)); // each is counted after it is stored
    await expectUsageIsExact(sending.system);
  });
});

const toBoolean = [() => true, () => false] as const;
