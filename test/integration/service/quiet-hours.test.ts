import { expect } from "chai";
import { offsetAt, zoneSpans } from "#core/domain/zone-spans.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { changeSettings } from "../../support/system/calling.ts";
import { comesDue, deliveriesOf, type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const withinMs = 60_000 + testTiming.leaseMs;
const hourMs = 3_600_000;
const zone = "Asia/Kolkata";

/** What clocks of the zone show in so many milliseconds. */
const shownIn = (inMs: number): string => {
  const at = Date.now() + inMs;
  return new Date(at + offsetAt(zoneSpans(zone, new Date(at)) ?? [], at)).toISOString().slice(11, 19);
};

describe("quiet hours", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dispatcher: SystemProgram;

  before(async () => {
    sending = await startSending(await testServers());
    [api, dispatcher] = await Promise.all([sending.system.start("apiserver"), sending.system.start("dispatcher")]);
  });
  after(() => sending?.close());

  /** An organisation whose app has quiet hours, with a device in the zone. */
  const given = async (hours: object, over: object = {}) => {
    const system = { ...sending.system, ...(await sending.system.another()) };
    const { status } = await changeSettings(api)(system, { quiet_hours: { enabled: true, ...hours }, ...over });
    expect(status).to.equal(200);
    const devices = await seedDevices(system, 2, { device: { timezone: zone } });
    return { system, target: { include_subscription_ids: devices.map(({ _id }) => _id) } };
  };
  const now = { start: shownIn(-hourMs), end: shownIn(2 * hourMs) };

  it("hold what falls into them until their end, and list it", async () => {
    const { system, target } = await given({ start: shownIn(-hourMs), end: shownIn(2 * hourMs) });
    const id = await send(system, api, { target });
    await until(async () => (await deliveriesOf(system, id)).length === 2, withinMs);
    for (const row of await deliveriesOf(system, id)) {
      expect(row.status).to.equal("scheduled");
      expect((row.scheduled_for?.getTime() ?? 0) - Date.now()).to.be.within(1.9 * hourMs, 2.2 * hourMs);
    }
    const message = await system.db.collection<MessageRow>("messages").findOne({ _id: id });
    expect(message?.status).to.equal("processing");
  });

  it("send what they held once they are over, once to each", async () => {
    const { system, target } = await given({ start: shownIn(-hourMs), end: shownIn(2 * hourMs) });
    const id = await send(system, api, { target });
    await until(async () => (await deliveriesOf(system, id)).length === 2, withinMs);
    await changeSettings(api)(system, { quiet_hours: null });
    await comesDue(system, id, withinMs); // as if the hours had passed
    const ended = await system.ended(id, withinMs);
    expect(ended.counts).to.include({ targeted: 2, sent: 2 });
    expect((await deliveriesOf(system, id)).map(({ status }) => status)).to.deep.equal(["sent", "sent"]);
  });

  it("hold what they held through a kill, and send it once", async () => {
    const { system, target } = await given(now);
    sending.apns.log.clear();
    const id = await send(system, api, { target });
    await until(async () => (await deliveriesOf(system, id)).length === 2, withinMs);
    await dispatcher.kill();
    await dispatcher.restart();
    await changeSettings(api)(system, { quiet_hours: null });
    await comesDue(system, id, withinMs);
    expect((await system.ended(id, withinMs)).counts).to.include({ targeted: 2, sent: 2 });
    expect(sending.apns.log.counts().accepted).to.equal(2);
  });

  it("leave a message that they hold to its end: it cannot be cancelled any more", async () => {
    const { system, target } = await given(now);
    const id = await send(system, api, { target });
    await until(async () => (await deliveriesOf(system, id)).length === 2, withinMs);
    const path = `${api.url}/v1/notifications/${id}`;
    const reply = await fetch(path, { method: "DELETE", headers: { authorization: `Bearer ${system.token}` } });
    expect(reply.status).to.equal(409);
    expect((await deliveriesOf(system, id)).map(({ status }) => status)).to.deep.equal(["scheduled", "scheduled"]);
  });

  it("drop what falls into them where they say so", async () => {
    const { system, target } = await given({ ...now, mode: "drop" });
    const ended = await system.ended(await send(system, api, { target }), withinMs);
    expect(ended.counts).to.include({ suppressed: 2, sent: 0 });
    expect((await deliveriesOf(system, ended._id))[0]?.suppression_reason).to.equal("quiet_hours");
  });

  it("let through what is exempt, and what is on another channel or at another time", async () => {
    const { system, target } = await given({ ...now, mode: "drop" }, { exempt_categories: ["codes"] });
    const exempt = await send(system, api, { target, quiet_hours_exempt: true });
    const code = await send(system, api, { target, category: "codes" });
    for (const id of [exempt, code]) expect((await system.ended(id, withinMs)).counts).to.include({ sent: 2 });
    const day = await given({ start: shownIn(hourMs), end: shownIn(2 * hourMs), mode: "drop" });
    const mails = await given({ ...now, channels: ["email"], mode: "drop" });
    for (const one of [day, mails])
      expect(
        (await one.system.ended(await send(one.system, api, { target: one.target }), withinMs)).counts.sent,
      ).to.equal(2);
  });

  it("are refused that end when they start, or are on the clock of no zone", async () => {
    const { system } = await given(now);
    for (const [hours, field] of [
      [{ start: "22:00", end: "10:00PM" }, "quiet_hours.end"],
      [{ timezone: "Europe/Atlantis" }, "quiet_hours.timezone"],
      [{ start: "25:00" }, "quiet_hours.start"],
      [{ days: [] }, "quiet_hours.days"],
    ] as const) {
      const { status, body } = await changeSettings(api)(system, { quiet_hours: { enabled: true, ...hours } });
      expect([status, body.error?.details.field], JSON.stringify(body)).to.deep.equal([400, field]);
    }
  });
});
