import { expect } from "chai";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { selfSigned } from "../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { startSmtp } from "../../../dev/simulators/smtp.ts";
import { plainMail } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import {
  audit,
  deliveriesOf,
  expectAllSent,
  type Sending,
  seedDevices,
  send,
  startSending,
} from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { expectUsageIsExact } from "../../support/system/usage.ts";
import { until } from "../../support/until.ts";

const recipients = 3_000;
const graceSeconds = 10;

describe("a dispatcher that gets SIGTERM during a send", () => {
  let sending: Sending;
  let smtp: Simulator;
  let devices: SubscriptionRow[];
  let api: SystemProgram;
  let dispatchers: [SystemProgram, SystemProgram];

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    devices = await seedDevices(system, recipients);
    smtp = await startSmtp({ port: 0, tls: selfSigned() });
    const account = { ...emailAccount, port: Number(new URL(smtp.url).port) };
    await system.db.collection<AppRow>("apps").updateOne({}, { $set: { "channels.email": account } });
    const grace = { HERALD_GRACE_SECONDS: String(graceSeconds) };
    const starting = [system.start("dispatcher", grace), system.start("dispatcher", grace)] as const;
    [api, dispatchers] = await Promise.all([system.start("apiserver"), Promise.all(starting)]);
  });

  after(async () => {
    await sending?.close();
    await smtp?.stop();
  });

  it("stores what it has sent and leaves the rest to the other, and nothing is sent twice", async () => {
    const { system, apns } = sending;
    const [leaving] = dispatchers;
    apns.script({ delay_ms: 200 }); // so slow that pushes of both are under way when the signal comes
    const messageId = await send(system, api, { target: { all: true } });
    await until(() => apns.log.counts().accepted >= recipients / 4);
    apns.script({ delay_ms: 1_000 }); // so slow that the other is far from done when the first has stopped
    const stoppedMs = performance.now();
    await leaving.stop();
    expect(performance.now() - stoppedMs).to.be.below(graceSeconds * 1_000);
    const log = await leaving.log();
    expect(log.at(-1)).to.include({ event: "program.stopped", code: 0 });
    expect(log.filter(({ event }) => event === "chunk.delivered").map(({ halted }) => halted)).to.include(true);
    expect((await system.db.collection("messages").findOne({ status: "processing" }))?._id).to.equal(messageId);

    apns.script({ delay_ms: 200 });
    const whole = await audit(sending, { messageId, devices, withinMs: 60_000 });
    expectAllSent(whole, recipients);
    expect(whole.repeated).to.equal(0);
    await expectUsageIsExact(system);
  });

  it("stores a mail as uncertain whose answer does not come before the grace is over, and the next start does not send it", async () => {
    const { system } = sending;
    await dispatchers[1].stop();
    const dispatcher = await system.start("dispatcher", { HERALD_GRACE_SECONDS: "4" });
    const [mailbox] = await seedDevices(system, 1, { channel: "email", token: "ada@example.test" });
    smtp.script({ delay_ms: 10_000 });
    const target = { include_subscription_ids: [mailbox?._id] };
    const messageId = await send(system, api, { target, contents: undefined, email_subject: "Hi", email_body: "Hi" });
    await until(() => smtp.log.counts().received === 1);
    await dispatcher.stop();
    expect((await dispatcher.log()).at(-1)).to.include({ event: "program.stopped", code: 0 });
    expect(await deliveriesOf(system, messageId)).to.have.nested.property("[0].uncertain", true);
    await expectUsageIsExact(system);

    smtp.script({});
    await dispatcher.restart();
    expect(await system.ended(messageId, 60_000)).to.include({ status: "completed" });
    expect(smtp.log.counts().received).to.equal(1);
  });
});

const emailAccount: Omit<NonNullable<AppRow["channels"]["email"]>, "port"> = {
  ...plainMail,
  host: "127.0.0.1",
  security: "none",
  from_address: "news@shop.test",
};
