import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { type LiveActivities, liveActivities, stepsOf } from "../../support/live-activities/activities.ts";
import { testServers } from "../../support/servers/servers.ts";
import { type Sending, seedDevices, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const takenOverMs = 90_000; // until the leases of what was killed have run out, and what they kept is sent

describe("programs that are killed while they send live activities", function () {
  this.timeout(200_000);
  let sending: Sending;
  let live: LiveActivities;
  let api: SystemProgram;
  let dispatchers: [SystemProgram, SystemProgram];
  let devices: SubscriptionRow[];

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    const starting = [system.start("apiserver"), system.start("dispatcher"), system.start("dispatcher")] as const;
    const [first, ...others] = await Promise.all(starting);
    [api, dispatchers] = [first, others];
    live = liveActivities(sending, api);
    await live.aType();
    devices = await seedDevices(system, 40);
    for (const device of devices) await live.canStart(device);
  });
  after(() => sending?.close());

  const target = () => ({ include_subscription_ids: devices.map(({ _id }) => _id) });
  const accepted = (): number => sending.apns.log.counts().accepted;
  const moreAccepted = (count: number): Promise<void> => {
    const wanted = accepted() + count;
    return until(() => accepted() >= wanted, takenOverMs);
  };

  it("start it everywhere, show each device the last state, and none an older one after a newer one", async () => {
    sending.apns.script({ delay_ms: 150 }); // so slow that kills find pushes under way
    const activity_id = "match";
    const start = await live.send("start", { activity_id, content_state: { step: 0 }, target: target() });
    await moreAccepted(1);
    await killAndRestart(dispatchers[0]);
    await killAndRestart(dispatchers[1]);
    const started = await live.ended(start, takenOverMs);
    expect(started.counts).to.include({ targeted: 40, sent: 40 });

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
    await until(() => tokens.every((token) => stepsOf(live.pushes(token)).at(-1) === 3), takenOverMs);
    for (const token of tokens) {
      const steps = stepsOf(live.pushes(token)) as number[];
      expect(steps).to.deep.equal(steps.toSorted((a, b) => a - b));
    }

    const end = await live.send("end", { activity_id });
    await moreAccepted(1);
    await killAndRestart(dispatchers[1]);
    await live.ended(end, takenOverMs);
    expect(tokens.filter((token) => live.pushes(token).at(-1)?.aps.event !== "end")).to.deep.equal([]);
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
