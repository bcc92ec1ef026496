import { expect } from "chai";
import { type LiveActivityRow, liveActivityCollection } from "#core/storage/live-activities/activities.ts";
import {
  type ActivityChannelRow,
  activityChannelCollection,
  activityChannels,
} from "#core/storage/live-activities/channels.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { usage } from "#core/storage/messages/usage.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { noWork } from "#core/storage/work/due.ts";
import { aStartToken } from "../../../support/live-activities/activities.ts";
import { activityJobs } from "../../../support/live-activities/jobs.ts";
import { activityReplica, anActivitySender } from "../../../support/live-activities/replica.ts";
import { aSubscription, seed } from "../../../support/rows/fixtures.ts";
import { handClock } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("a start of a live activity that is refused or cut short", () => {
  const db = testDatabase("cut_short");
  const start = { content_state: {}, target: { all: true } };
  const onChannel = { ...start, channel: true };

  /** An app with a device that an activity can be started on, and two broadcast channels that are ready. */
  const anApp = async (ofMonth: number | null = null) => {
    const sender = anActivitySender({ messages_per_month: ofMonth });
    const { app, type, caller } = sender;
    const clock = handClock(new Date());
    const of = { tenant_id: app.tenant_id, app_id: app._id };
    const device = aSubscription({ ...of, user_id: `usr_${app._id}`, channel: "ios_push" });
    await seed(db(), { subscriptions: [device] });
    await db().collection<{ _id: string }>("live_activity_start_tokens").insertOne(aStartToken(device, type._id));
    const channels = activityChannels(db());
    for (const n of [1, 2])
      await channels.insert({
        ...noWork,
        ...of,
        _id: `lac_${app._id}_${n}`,
        type_id: type._id,
        status: "ready",
        apns_channel_id: `apple-${n}`,
        activity_id: null,
        stores_latest: true,
        error: null,
        created_at: clock.now(),
        updated_at: clock.now(),
      });
    const ofApp = { app_id: app._id };
    return {
      sender,
      clock,
      caller,
      replica: activityReplica(db(), sender, clock),
      runDue: () => activityJobs(db(), clock).runDue(app._id),
      activities: (): Promise<LiveActivityRow[]> =>
        collectionOf<LiveActivityRow>(db(), liveActivityCollection).find(ofApp).toArray(),
      channels: async (): Promise<ActivityChannelRow["status"][]> =>
        (await collectionOf<ActivityChannelRow>(db(), activityChannelCollection).find(ofApp).toArray())
          .map(({ status }) => status)
          .toSorted(),
      /** As a kill before the message of a start was stored leaves it. */
      forgetMessages: () => collectionOf<MessageRow>(db(), messageCollection).deleteMany(ofApp),
    };
  };

  const errorOf = (sending: Promise<unknown>): Promise<unknown> =>
    sending.then(
      () => null,
      ({ code, details }: { code: string; details: { status?: string } }) => details.status ?? code,
    );

  it("leaves nothing when the quota does not suffice", async () => {
    const { replica, activities: left, channels } = await anApp(0);
    expect(await errorOf(replica.start(onChannel))).to.equal("HS_QUOTA_EXCEEDED");
    expect([await left(), await channels()]).to.deep.equal([[], ["ready", "ready"]]);
  });

  it("gives the quota back when no channel is ready", async () => {
    const { replica, caller, clock, channels } = await anApp(10);
    await replica.start(onChannel);
    await replica.start(onChannel);
    expect(await errorOf(replica.start(onChannel))).to.equal("no_channel");
    expect(await channels()).to.deep.equal(["used", "used"]);
    const month = clock.now().toISOString().slice(0, 7);
    expect((await usage(db()).find(caller.tenant._id, month)).messages).to.equal(2);
  });

  it("uses no channel for an activity that runs without one", async () => {
    const { replica, channels } = await anApp();
    await replica.start({ ...start, activity_id: "plain" });
    expect(await errorOf(replica.start({ ...onChannel, activity_id: "plain" }))).to.equal("running");
    expect(await channels()).to.deep.equal(["ready", "ready"]);
  });

  it("is taken up by its repeat with the same key", async () => {
    const { replica, activities: left, channels, forgetMessages } = await anApp();
    const first = await replica.start(onChannel, "key-1");
    await forgetMessages();
    const second = await replica.start(onChannel, "key-1");
    expect(second.activity_id).to.equal(first.activity_id);
    expect(second.message_id).not.to.equal(first.message_id);
    expect([(await left()).length, await channels()]).to.deep.equal([1, ["ready", "used"]]);
  });

  it("starts another activity when its key is used again after its day", async () => {
    const { replica, clock } = await anApp();
    const first = await replica.start(start, "key-2");
    clock.tick(25 * 3_600_000);
    expect((await replica.start(start, "key-2")).activity_id).not.to.equal(first.activity_id);
  });

  it("is removed when nobody repeats it, and its channel is ready again", async () => {
    const { replica, runDue, clock, activities: left, channels, forgetMessages } = await anApp();
    await replica.start(onChannel);
    await forgetMessages();
    clock.tick(200_000);
    await runDue();
    expect([(await left()).length, await channels()]).to.deep.equal([1, ["ready", "used"]]); // it may be under way
    clock.tick(101_000);
    await runDue();
    expect(await left()).to.deep.equal([]);
    clock.tick(61_000);
    await runDue();
    expect(await channels()).to.deep.equal(["ready", "ready"]);
  });

  it("gives its channel back when it was killed before it had stored the activity", async () => {
    const { replica, runDue, clock, channels, forgetMessages } = await anApp();
    await replica.start(onChannel);
    await forgetMessages();
    await collectionOf<LiveActivityRow>(db(), liveActivityCollection).deleteMany({});
    clock.tick(301_000);
    await runDue();
    expect(await channels()).to.deep.equal(["ready", "ready"]);
  });

  it("takes nothing from an activity that was started", async () => {
    const { replica, runDue, clock, activities: left, channels } = await anApp();
    await replica.start(onChannel);
    clock.tick(301_000);
    await runDue();
    const [row] = await left();
    expect(row).to.deep.include({ status: "running", due_at: row?.ends_at });
    expect(await channels()).to.deep.equal(["ready", "used"]);
  });

  it("uses one channel when two first starts of an activity come at once", async () => {
    const { replica, runDue, channels, activities: left } = await anApp();
    const twice = [1, 2, 3].map(() => replica.start({ ...onChannel, activity_id: "final" }).catch(() => undefined));
    await Promise.all(twice);
    await runDue();
    expect([(await left()).length, await channels()]).to.deep.equal([1, ["ready", "used"]]);
  });
});
