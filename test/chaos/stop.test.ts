import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/subscription-row.ts";
import { audit, expectAllSent, type Sending, seedDevices, send, startSending } from "../support/sending.ts";
import { testServers } from "../support/servers.ts";
import type { SystemProgram } from "../support/system.ts";
import { until } from "../support/until.ts";

const recipients = 3_000;
const graceSeconds = 10;

describe("a dispatcher that is told to stop during a send", function () {
  this.timeout(150_000);
  let sending: Sending;
  let devices: SubscriptionRow[];
  let api: SystemProgram;
  let dispatchers: [SystemProgram, SystemProgram];

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    devices = await seedDevices(system, recipients);
    const grace = { HERALD_GRACE_SECONDS: String(graceSeconds) };
    const starting = [system.start("dispatcher", grace), system.start("dispatcher", grace)] as const;
    [api, dispatchers] = await Promise.all([system.start("apiserver"), Promise.all(starting)]);
  });

  after(() => sending?.close());

  it("stores what it has sent and leaves the rest to the other, and nothing is sent twice", async () => {
    const { system, apns } = sending;
    const [leaving] = dispatchers;
    apns.script({ delay_ms: 200 }); // so slow that pushes of both are under way when the signal comes
    const messageId = await send(system, api, { target: { all: true } });
    await until(() => apns.log.counts().accepted >= recipients / 4, 20_000);
    apns.script({ delay_ms: 1_000 }); // so slow that the other is far from done when the first has stopped
    const toldMs = performance.now();
    await leaving.stop();
    expect(performance.now() - toldMs).to.be.below(graceSeconds * 1_000);
    const log = await leaving.log();
    expect(log.at(-1)).to.include({ event: "program.stopped", code: 0 });
    expect(log.filter(({ event }) => event === "chunk.delivered").map(({ halted }) => halted)).to.include(true);
    expect((await system.db.collection("messages").findOne({ status: "processing" }))?._id).to.equal(messageId);

    apns.script({ delay_ms: 200 });
    const whole = await audit(sending, { messageId, devices, withinMs: 60_000 });
    expectAllSent(whole, recipients);
    expect(whole.repeated).to.equal(0);
  });
});
