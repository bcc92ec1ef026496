import { expect } from "chai";
import { dayMs } from "#core/domain/durations.ts";
import { offsetAt, zoneSpans } from "#core/domain/zone-spans.ts";
import type { Why } from "#core/schema/why/why.ts";
import type { CapTakeRow } from "#core/storage/messages/cap-takes.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { changeSettings, to } from "../../support/system/calling.ts";
import {
  aToken,
  audit,
  deliveriesOf,
  type Sending,
  seedDevices,
  send,
  startSending,
} from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const withinMs = 60_000 + testTiming.leaseMs;
const people = 600;

describe("frequency caps", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dispatchers: SystemProgram[];

  before(async () => {
    sending = await startSending(await testServers());
    const programs = ["apiserver", "dispatcher", "dispatcher"] as const;
    const started = await Promise.all(programs.map((program) => sending.system.start(program)));
    [api, ...dispatchers] = started as [SystemProgram, ...SystemProgram[]]; // three were started
  });
  after(() => sending?.close());

  const daily = { name: "daily", max: 1, per: "day" };
  /** An organisation whose app has these caps. */
  const given = async (caps: object[] = [daily], settings: object = {}) => {
    const system = { ...sending.system, ...(await sending.system.another()) };
    const { status, body } = await changeSettings(api)(system, { frequency_caps: caps, ...settings });
    expect(status, JSON.stringify(body)).to.equal(200);
    return system;
  };
  const countsOf = async (system: System, body: object) => {
    const { counts } = await system.ended(await send(system, api, body), withinMs);
    return { sent: counts.sent, suppressed: counts.suppressed };
  };

  /** Two messages to the same people at once; how often each person was sent to. */
  const race = async (system: System, devices: readonly SubscriptionRow[], during: () => Promise<void>) => {
    const both = await Promise.all([1, 2].map(() => send(system, api, { target: { all: true } })));
    await during();
    await Promise.all(both.map((messageId) => audit({ system, apns: sending.apns }, { messageId, devices, withinMs })));
    const rows = (await Promise.all(both.map((id) => deliveriesOf(system, id)))).flat();
    expect(rows).to.have.length(2 * devices.length);
    const sent = rows.filter(({ sent_at: at }) => at !== undefined);
    const held = rows.filter(({ suppression_reason: reason }) => reason === "frequency_cap");
    expect(held).to.have.length(devices.length);
    return [...Map.groupBy(sent, ({ subscription_id: id }) => id).values()].map(({ length }) => length);
  };

  it("of two messages to the same people at once, by two dispatchers, let one through to each", async () => {
    const system = await given();
    const devices = await seedDevices(system, people);
    const times = await race(system, devices, async () => undefined);
    expect(times).to.deep.equal(Array.from({ length: people }, () => 1));
  });

  it("do so when dispatchers are killed in between", async () => {
    const system = await given();
    const devices = await seedDevices(system, people);
    sending.apns.log.clear();
    const times = await race(system, devices, async () => {
      await until(() => sending.apns.log.counts().accepted > people / 4, withinMs);
      await Promise.all(dispatchers.map((one) => one.kill()));
      await Promise.all(dispatchers.map((one) => one.restart()));
    });
    expect(times).to.deep.equal(Array.from({ length: people }, () => 1));
  });

  it("count the messages of a person over all their devices, or of each device", async () => {
    const system = await given([
      { ...daily, max: 2 },
      { name: "each", max: 1, per: "week", scope: "subscription" },
    ]);
    const [phone] = await seedDevices(system, 1);
    const [tablet, watch] = await seedDevices(system, 2, { user_id: phone?.user_id ?? "" });
    const devices = [phone, tablet, watch].flatMap((one) => one ?? []);
    expect(await countsOf(system, to(devices.slice(0, 2)))).to.deep.equal({ sent: 2, suppressed: 0 }); // one message
    expect(await countsOf(system, to(devices))).to.deep.equal({ sent: 1, suppressed: 2 });
    expect(await countsOf(system, to(devices.slice(2)))).to.deep.equal({ sent: 0, suppressed: 1 });
  });

  it("give a place back whose message was refused, unless another device of the person may need it", async () => {
    const system = await given();
    sending.apns.script({ answers: [{ address_prefix: "bad0", status: 410, reason: "Unregistered" }] });
    const [dead] = await seedDevices(system, 1, { token: aToken("bad0") });
    const [other] = await seedDevices(system, 1, { user_id: dead?.user_id ?? "" });
    if (dead === undefined || other === undefined) throw new Error("two were made");
    expect(await countsOf(system, to([dead]))).to.deep.equal({ sent: 0, suppressed: 0 });
    const places = system.db.collection<CapTakeRow>("cap_takes").find({ app_id: system.app._id });
    expect((await places.toArray()).flatMap(({ takes }) => takes)).to.have.length(1); // the other one's
    const [lone] = await seedDevices(system, 1, { token: aToken("bad0") });
    if (lone === undefined) throw new Error("one was made");
    await system.ended(await send(system, api, to([lone])), withinMs);
    const again = await seedDevices(system, 1, { user_id: lone.user_id });
    expect(await countsOf(system, to(again))).to.deep.equal({ sent: 1, suppressed: 0 });
  });

  it("let exempt messages through, which count, and exempt categories, which do not", async () => {
    const system = await given([daily], { exempt_categories: ["codes"] });
    const devices = await seedDevices(system, 2);
    const passed = { sent: 2, suppressed: 0 };
    expect(await countsOf(system, { ...to(devices), category: "codes" })).to.deep.equal(passed);
    expect(await countsOf(system, { ...to(devices), frequency_cap_exempt: true })).to.deep.equal(passed);
    expect(await countsOf(system, { ...to(devices), frequency_cap_exempt: true })).to.deep.equal(passed);
    expect(await countsOf(system, { ...to(devices), category: "codes" })).to.deep.equal(passed);
    expect(await countsOf(system, to(devices))).to.deep.equal({ sent: 0, suppressed: 2 });
  });

  it("count only the channels and categories that they name", async () => {
    const system = await given([
      { ...daily, name: "mails", channels: ["email"] },
      { ...daily, name: "news", categories: ["news"] },
    ]);
    const devices = await seedDevices(system, 1);
    for (const _ of [1, 2]) expect((await countsOf(system, to(devices))).sent).to.equal(1);
    expect((await countsOf(system, { ...to(devices), category: "news" })).sent).to.equal(1);
    expect((await countsOf(system, { ...to(devices), category: "news" })).suppressed).to.equal(1);
  });

  it("by the calendar begin anew with the recipient's day, and otherwise 24 hours after a message", async () => {
    const zone = "Asia/Kolkata";
    const ageOf = (at: number) => (at + offsetAt(zoneSpans(zone, new Date(at)) ?? [], at)) % dayMs;
    for (const window of ["calendar", "rolling"]) {
      const system = await given([{ ...daily, window }]);
      const devices = await seedDevices(system, 1, { device: { timezone: zone } });
      await countsOf(system, to(devices));
      const [yesterday, aDayAgo] = [Date.now() - ageOf(Date.now()) - 1, Date.now() - dayMs];
      const at = new Date(window === "calendar" ? yesterday : aDayAgo + 2 * withinMs);
      const rows = system.db.collection<CapTakeRow>("cap_takes");
      await rows.updateOne({ app_id: system.app._id }, { $set: { "takes.0.at": at } });
      expect((await countsOf(system, to(devices))).sent, window).to.equal(window === "calendar" ? 1 : 0);
    }
  });

  it("say of whom they held back which one it was, and by what it was filled", async () => {
    const system = await given();
    const devices = await seedDevices(system, 1);
    const first = await send(system, api, to(devices));
    await system.ended(first, withinMs);
    const { _id: id } = await system.ended(await send(system, api, to(devices)), withinMs);
    const [row] = await deliveriesOf(system, id);
    expect(row).to.include({
      suppression_reason: "frequency_cap",
      error_message: "the cap daily allows 1 a day",
      attempts: 0,
    });
    const path = `/v1/apps/${system.app._id}/notifications/${id}/why?subscription_id=${devices[0]?._id}`;
    const reply = await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${system.token}` } });
    const [found] = ((await reply.json()) as Why).recipients;
    expect(found?.decided_by).to.equal("frequency_cap");
    expect(JSON.stringify(found?.gates.at(-1)?.facts))
      .to.contain(first)
      .and.to.contain("the cap daily allows 1 a day");
  });

  const wrong: { it: string; caps: object[]; field: string }[] = [
    { it: "a cap of 0", caps: [{ ...daily, max: 0 }], field: "frequency_caps[0].max" },
    { it: "a cap of 1,001", caps: [{ ...daily, max: 1_001 }], field: "frequency_caps[0].max" },
    { it: "a time that there is not", caps: [{ ...daily, per: "year" }], field: "frequency_caps[0].per" },
    { it: "one without a name", caps: [{ max: 1, per: "day" }], field: "frequency_caps[0].name" },
    { it: "two of one name", caps: [daily, { ...daily, per: "week" }], field: "frequency_caps[1].name" },
    { it: "no channel at all", caps: [{ ...daily, channels: [] }], field: "frequency_caps[0].channels" },
    { it: "a member that there is not", caps: [{ ...daily, min: 1 }], field: "frequency_caps[0].min" },
  ];
  it("are refused that say nothing, or something that there is not, each by name", async () => {
    const system = await given();
    for (const { it: what, caps, field } of wrong) {
      const { status, body } = await changeSettings(api)(system, { frequency_caps: caps });
      expect([status, body.error?.details.field], what).to.deep.equal([400, field]);
    }
    const many = Array.from({ length: 21 }, (_, i) => ({ ...daily, name: `${i}` }));
    expect((await changeSettings(api)(system, { frequency_caps: many })).body.error?.details.field).to.equal(
      "frequency_caps",
    );
  });
});
