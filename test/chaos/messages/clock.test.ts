import { expect } from "chai";
import { testServers } from "../../support/servers/servers.ts";
import { inSuite } from "../../support/suite/soak.ts";
import { jumpingClock } from "../../support/system/jumping-clock.ts";
import { audit, expectAllSent, type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const recipients = inSuite(1_500, { soak: 20_000 });
const tenMinutesMs = 600_000; // APNs takes tokens that are less than an hour old
const inHand = 4 * 500; // HERALD_DISPATCHER_OPEN_CHUNKS, and the recipients of a chunk

describe("a node whose clock jumps, under a message to many", function () {
  this.timeout(300_000);
  let sending: Sending;

  before(async () => {
    sending = await startSending(await testServers());
  });
  after(() => sending?.close());

  for (const { jump, byMs } of [
    { jump: "ten minutes forward", byMs: tenMinutesMs },
    { jump: "ten minutes back", byMs: -tenMinutesMs },
  ])
    it(`sends to everybody when it jumps ${jump}`, async () => {
      const { system, apns } = sending;
      const devices = await seedDevices(system, recipients);
      const api = await system.start("apiserver");
      const started: SystemProgram[] = await Promise.all([
        system.start("dispatcher", jumpingClock(byMs)),
        system.start("dispatcher"),
      ]);
      apns.script({ delay_ms: 50 });
      const before = apns.log.counts().accepted;
      const messageId = await send(system, api, {
        target: { include_subscription_ids: devices.map(({ _id }) => _id) },
      });
      await until(() => apns.log.counts().accepted > before + 200);
      process.kill(started[0]?.pid() ?? 0, "SIGUSR2");
      const all = await audit(sending, { messageId, devices, withinMs: 120_000 });
      console.log(`      ${recipients} sent, ${all.repeated} of them again: ${JSON.stringify(all.deliveries)}`);
      expectAllSent(all, recipients);
      expect(all.repeated).to.be.at.most(Math.min(recipients, inHand * started.length)); // nobody three times
      const [late] = await seedDevices(system, 1);
      const after = await send(system, api, { target: { include_subscription_ids: [late?._id] } });
      expectAllSent(await audit(sending, { messageId: after, devices: late ? [late] : [], withinMs: 120_000 }), 1);
      await Promise.all([...started, api].map((program) => program.stop()));
    });
});
