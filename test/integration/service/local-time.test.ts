import { expect } from "chai";
import { offsetAt, zoneSpans } from "#core/domain/zone-spans.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { aUser, seed } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { slowness } from "../../support/suite/slowness.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { deliveriesOf, type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const withinMs = 60_000 + testTiming.leaseMs;
const hourMs = 3_600_000;

/** What clocks of a zone show at an instant. */
const shownIn = (zone: string, at: number): string => {
  const offset = offsetAt(zoneSpans(zone, new Date(at)) ?? [], at);
  return new Date(at + offset).toISOString().slice(11, 19);
};

describe("a message by local time", () => {
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

  const devicesIn = async (zone: string | null, count = 1) =>
    seedDevices(sending.system, count, zone === null ? {} : { device: { timezone: zone } });
  const ask = async (method: string, path: string) => {
    const reply = await fetch(`${api.url}/v1/notifications/${path}`, {
      method,
      headers: { authorization: `Bearer ${sending.system.token}` },
    });
    return { status: reply.status, body: (await reply.json()) as { status?: string; data?: { status: string }[] } };
  };
  /** Some seconds ahead: a message must have been accepted and planned by then, on a busy machine too. */
  const soon = () => Math.ceil(Date.now() / 1_000 + 6 * slowness()) * 1_000;
  const message = (id: string) => sending.system.db.collection<MessageRow>("messages").findOne({ _id: id });
  const planned = (id: string) => until(async () => (await message(id))?.planned === true, withinMs);
  /** When chunks of it are due. */
  const timesOf = async (id: string): Promise<(number | undefined)[]> => {
    const timed = { message_id: id, scheduled_for: { $exists: true } };
    const found = await sending.system.db.collection<ChunkRow>("chunks").find(timed).toArray();
    return found.map(({ scheduled_for: at }) => at?.getTime());
  };
  const requestsOf = (token: string) => sending.apns.log.page().filter(({ address }) => address === token);

  it("reaches each when clocks of their zone show the time, and says of the others when that is", async () => {
    const { system } = sending;
    const [near] = await devicesIn("Asia/Kolkata");
    const [apia] = await devicesIn("Pacific/Apia");
    const [unknown] = await devicesIn(null);
    const [ofUser] = await devicesIn(null);
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    await seed(system.db, { users: [aUser({ ...of, _id: ofUser?.user_id ?? "", time_zone: "Asia/Colombo" })] });
    const devices = [near, apia, unknown, ofUser].flatMap((one) => one ?? []);
    const at = soon();
    const time = shownIn("Asia/Kolkata", at);
    const id = await send(system, api, {
      target: { include_subscription_ids: devices.map(({ _id }) => _id) },
      delayed_option: "timezone",
      delivery_time_of_day: time,
    });
    await planned(id);
    await until(
      async () => (await deliveriesOf(system, id)).filter((row) => row.status === "sent").length === 2,
      withinMs,
    );
    const rows = await deliveriesOf(system, id);
    const ofDevice = (one = near) => rows.find((row) => row.subscription_id === one?._id);
    for (const one of [ofDevice(near), ofDevice(ofUser)]) {
      expect(one?.status).to.equal("sent");
      expect(one?.sent_at?.getTime()).to.be.at.least(at);
    }
    expect(await timesOf(id)).to.include(at);
    expect(ofDevice(apia)?.status).to.equal("scheduled");
    expect(shownIn("Pacific/Apia", ofDevice(apia)?.scheduled_for?.getTime() ?? 0)).to.equal(time);
    expect(ofDevice(unknown)?.time_zone_source).to.equal("app_default");
    expect(ofDevice(apia)?.time_zone_source).to.equal(undefined);
    expect((await ask("GET", `${id}/deliveries?status=scheduled`)).body.data).to.have.length(2);
    expect((await ask("DELETE", id)).status, "when some are sent").to.equal(409);
    expect(await message(id)).to.include({ status: "processing", planned: true });
    expect((await ask("DELETE", `${id}?force=true`)).body.status).to.equal("cancelled");
    const statuses = async () => (await deliveriesOf(system, id)).map(({ status }) => status).toSorted();
    await until(async () => !(await statuses()).includes("scheduled"), withinMs);
    expect(await statuses()).to.deep.equal(["cancelled", "cancelled", "sent", "sent"]);
    const { data } = (await ask("GET", `${id}/timeline`)).body;
    expect((data as object[]).map((entry) => Reflect.get(entry, "cause"))).to.deep.equal([
      "accepted",
      "begun",
      "cancelled_by_force",
    ]);
    expect((await ask("DELETE", `${id}?force=true`)).status, "once more").to.equal(200);
  });

  it("sends to each once when their zone changes while they wait, and at the instant that was due", async () => {
    const { system } = sending;
    const [device] = await devicesIn("Europe/Berlin");
    const at = soon();
    const id = await send(system, api, {
      target: { include_subscription_ids: [device?._id] },
      delayed_option: "timezone",
      delivery_time_of_day: shownIn("Europe/Berlin", at),
    });
    await planned(id);
    const zone = shownIn("Asia/Tokyo", 0) === shownIn("UTC", 0) ? "UTC" : "Asia/Tokyo";
    await system.db
      .collection<{ _id: string }>("subscriptions")
      .updateOne({ _id: device?._id ?? "" }, { $set: { "device.timezone": zone } });
    expect((await system.ended(id, withinMs)).status).to.equal("completed");
    const [row] = await deliveriesOf(system, id);
    expect(await timesOf(id)).to.deep.equal([at]);
    expect(row?.sent_at?.getTime()).to.be.at.least(at);
    expect(requestsOf(device?.token ?? "")).to.have.length(1);
  });

  it("loses nobody and sends to each once when dispatchers are killed while they sort and wait", async () => {
    const { system } = sending;
    const other = { ...system, ...(await system.another()) };
    const zones = ["Asia/Kolkata", "Asia/Kathmandu", "Europe/Berlin", "America/New_York", "Australia/Eucla"];
    const all = await Promise.all(zones.map((zone) => seedDevices(other, 250, { device: { timezone: zone } })));
    const at = soon();
    const id = await send(other, api, {
      target: { all: true },
      delayed_option: "timezone",
      delivery_time_of_day: shownIn("Asia/Kolkata", at),
    });
    const rows = () => system.db.collection("deliveries").countDocuments({ message_id: id, position: { $gt: "" } });
    await until(async () => (await rows()) > 0, withinMs);
    const [first, second] = dispatchers as [SystemProgram, SystemProgram]; // two were started
    await first.kill();
    await first.restart();
    const sent = () =>
      system.db.collection("deliveries").countDocuments({ message_id: id, status: "sent", position: { $gt: "" } });
    await until(async () => (await sent()) > 0, withinMs);
    await second.kill();
    await second.restart();
    await until(async () => (await sent()) === 250 && (await rows()) === 1_250, withinMs);
    const found = await deliveriesOf(other, id);
    expect(new Set(found.map((row) => row.subscription_id)).size).to.equal(1_250);
    const due = new Set(found.map((row) => row.scheduled_for?.getTime() ?? 0));
    expect(due.size, "one instant for each zone").to.equal(5);
    const again = all[0]?.filter(({ token }) => requestsOf(token).length > 1).length ?? 0;
    expect(again, "sent twice by what a kill left unsaved").to.be.at.most(200);
  });

  it("is cancelled with all that waits while nothing was sent, and not a second later", async () => {
    const { system } = sending;
    const [device, sooner] = [await devicesIn("Asia/Tokyo", 3), await devicesIn("Asia/Seoul", 3)];
    const id = await send(system, api, {
      target: { include_subscription_ids: [...device, ...sooner].map(({ _id }) => _id) },
      delayed_option: "timezone",
      delivery_time_of_day: shownIn("Asia/Tokyo", Date.now() + 2 * hourMs),
    });
    await planned(id);
    await until(async () => (await deliveriesOf(system, id)).length === 6, withinMs);
    expect(await ask("DELETE", id)).to.deep.include({ status: 200 });
    expect((await ask("DELETE", id)).body.status, "again").to.equal("cancelled");
    await until(async () => (await deliveriesOf(system, id)).every((row) => row.status === "cancelled"), withinMs);
    await until(async () => (await message(id))?.due_at === null, withinMs);
    const left = await system.db.collection<ChunkRow>("chunks").countDocuments({ message_id: id, status: "scheduled" });
    expect(left).to.equal(0);
  });

  it("leaves out whom the time has passed where the app says so", async () => {
    const { system } = sending;
    const other = { ...system, ...(await system.another()) };
    const patch = await fetch(`${api.url}/v1/apps/${other.app._id}/settings`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${other.token}`, "content-type": "application/json" },
      body: JSON.stringify({ local_time_missed: "skip", time_zone: "Asia/Kathmandu" }),
    });
    expect(patch.status).to.equal(200);
    const [device] = await seedDevices(other, 1, { device: { timezone: "Asia/Kathmandu" } });
    const minuteAgo = shownIn("Asia/Kathmandu", Date.now() - 60_000);
    const isMidnight = minuteAgo > shownIn("Asia/Kathmandu", Date.now());
    const id = await send(other, api, {
      target: { include_subscription_ids: [device?._id] },
      delayed_option: "timezone",
      delivery_time_of_day: isMidnight ? "00:00:00" : minuteAgo,
    });
    const row = await system.ended(id, withinMs);
    expect(row.counts).to.include({ targeted: 1, suppressed: 1, sent: 0 });
    expect((await deliveriesOf(other, id))[0]?.suppression_reason).to.equal("local_time_missed");
  });

  it("takes a user's zone of their properties where nothing else says one", async () => {
    const { system } = sending;
    const [device] = await devicesIn(null);
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const user: UserRow = aUser({ ...of, _id: device?.user_id ?? "", properties: { timezone: "Pacific/Apia" } });
    await seed(system.db, { users: [user] });
    const time = shownIn("Pacific/Apia", Date.now() + 5 * hourMs);
    const id = await send(system, api, {
      target: { include_subscription_ids: [device?._id] },
      delayed_option: "timezone",
      delivery_time_of_day: time,
    });
    await until(async () => (await deliveriesOf(system, id)).length === 1, withinMs);
    const [row] = await deliveriesOf(system, id);
    expect(shownIn("Pacific/Apia", row?.scheduled_for?.getTime() ?? 0)).to.equal(time);
    expect(row?.time_zone_source).to.equal(undefined);
  });
});
