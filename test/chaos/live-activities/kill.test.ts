import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { type LiveSystem, startLiveActivities, stepsOf, updatesOf } from "../../support/live-activities/activities.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { seedDevices, seedPhones } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const takenOverMs = testTiming.leaseMs + 60_000; // until the leases of what was killed have run out, and what they kept is sent

describe("programs that are killed while they send live activities", () => {
  let sending: LiveSystem["sending"];
  let live: LiveSystem["live"];
  let fcm: LiveSystem["fcm"];
  let api: SystemProgram;
  let dispatchers: [SystemProgram, SystemProgram];
  let devices: SubscriptionRow[];
  let phones: SubscriptionRow[];

  before(async () => {
    const platforms = ["ios", "android"];
    const started = await startLiveActivities({ dispatchers: 2, platforms });
    ({ sending, live, fcm, api } = started);
    dispatchers = started.dispatchers as [SystemProgram, SystemProgram]; // two were asked for
    devices = await seedDevices(sending.system, 40);
    phones = await seedPhones(sending.system, 10);
    for (const device of devices) await live.canStart(device);
  });
  after(() => sending?.close());

  const target = () => ({ include_subscription_ids: [...devices, ...phones].map(({ _id }) => _id) });
  const accepted = (): number => sending.apns.log.counts().accepted + fcm.log.counts().accepted;
  const moreAccepted = (count: number): Promise<void> => {
    const wanted = accepted() + count;
    return until(() => accepted() >= wanted, takenOverMs);
  };

  it("start it everywhere, show each device the last state, and none an older one after a newer one", async () => {
    for (const provider of [sending.apns, fcm]) provider.script({ delay_ms: 150 }); // so slow that kills find pushes under way
    const activity_id = "match";
    const start = await live.send("start", { activity_id, content_state: { step: 0 }, target: target() });
    await moreAccepted(1);
    await killAndRestart(dispatchers[0]);
    await killAndRestart(dispatchers[1]);
    const started = await live.ended(start, takenOverMs);
    expect(started.counts).to.include({ targeted: 50, sent: 50 });

    const held = devices.slice(0, 10);
    const shown = await tokensOf(devices.slice(10), activity_id);
    const ids = [await live.send("update", { activity_id, content_state: { step: 1 } })];
    await moreAccepted(1);
    await killAndRestart(dispatchers[0]);
    ids.push(await live.send("update", { activity_id, content_state: { step: 2 } }));
    await killAndRestart(api);
    ids.push(await live.send("update", { activity_id, content_state: { step: 3 } }));
    await moreAccepted(1);
    await killAndRestart(dispatchers[1]);
    const late = tokensOf(held, activity_id); // they report their tokens while the updates are under way
    await killAndRestart(dispatchers[0]);
    const tokens = [...shown, ...(await late)];
    for (const id of ids) await live.ended(id, takenOverMs);
    const shows = (): number[][] => [
      ...tokens.map((token) => stepsOf(live.pushes(token)) as number[]),
      ...phones.map((phone) => updatesOf(fcm, [phone]).map(({ update }) => update.content_state["step"] as number)),
    ];
    await until(() => shows().every((steps) => steps.at(-1) === 3), takenOverMs);
    for (const steps of shows()) {
      expect(steps).to.deep.equal(steps.toSorted((a, b) => a - b));
    }

    const end = await live.send("end", { activity_id });
    await moreAccepted(1);
    await killAndRestart(dispatchers[1]);
    await live.ended(end, takenOverMs);
    expect(tokens.filter((token) => live.pushes(token).at(-1)?.aps.event !== "end")).to.deep.equal([]);
    expect(phones.filter((phone) => updatesOf(fcm, [phone]).at(-1)?.update.event !== "end")).to.deep.equal([]);
    const waiting = await sending.system.db.collection("deliveries").countDocuments({ status: "scheduled" });
    expect(waiting).to.equal(0);
  });

  const tokensOf = async (of: readonly SubscriptionRow[], activityId: string): Promise<string[]> => {
    const tokens: string[] = [];
    for (const device of of) tokens.push(await live.shows(device, activityId));
    return tokens;
  };
});

const killAndRestart = async (program: SystemProgram): Promise<void> => {
  await program.kill();
  await program.restart();
};
