import { expect } from "chai";
import { activityRecipients } from "#core/storage/live-activities/recipients.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

describe("the devices of a live activity that are stored", () => {
  const db = testDatabase("activity_recipients");

  it("are counted by their states, as many as are asked for", async () => {
    const devices = activityRecipients(db());
    const of = { tenantId: "ten_1", appId: "app_1", activity: "act_1", now: new Date() };
    const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => ({ _id: `sub_${from + n}` }));
    await devices.claim({ ...of, channel: "ios_push", messageId: "msg_1" }, ids(0, 5));
    await devices.claim({ ...of, channel: "android_push", messageId: "msg_1" }, ids(5, 12));
    const all = { appId: "app_1", activity: "act_1" };
    expect(await devices.tally(all, 100)).to.deep.equal({ starting: 5, active: 7 });
    expect(await devices.tally({ ...all, channel: "android_push" }, 100)).to.deep.equal({ active: 7 });
    const some = await devices.tally(all, 10);
    expect((some.starting ?? 0) + (some.active ?? 0)).to.equal(10);
  });
});
