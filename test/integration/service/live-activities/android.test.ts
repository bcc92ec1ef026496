import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import {
  type LiveSystem,
  liveActivities,
  startLiveActivities,
  stepsOf,
  updatesOf,
} from "../../../support/live-activities/activities.ts";
import { seedDevices, seedPhones } from "../../../support/system/sending.ts";
import { until } from "../../../support/until.ts";

const platforms = ["ios", "android"];

describe("live activities on Android", () => {
  let sending: LiveSystem["sending"];
  let live: LiveSystem["live"];
  let fcm: LiveSystem["fcm"];
  let api: LiveSystem["api"];
  let names = 0;

  before(async () => {
    ({ sending, live, fcm, api } = await startLiveActivities({ dispatchers: 2, platforms }));
  });
  after(() => sending?.close());
  afterEach(() => fcm.script({}));

  const anId = (): string => `order-${++names}`;
  const to = (...of: readonly SubscriptionRow[]) => ({ include_subscription_ids: of.map(({ _id }) => _id) });
  const aPhone = async (): Promise<SubscriptionRow> => (await seedPhones(sending.system, 1))[0] as SubscriptionRow; // one was made
  const anIphone = async (type?: string) => {
    const [device] = (await seedDevices(sending.system, 1)) as [SubscriptionRow]; // one was made
    return { device, startToken: await live.canStart(device, type) };
  };
  const running = async () => {
    const [phone, activity_id] = [await aPhone(), anId()];
    await live.ended(await live.send("start", { activity_id, content_state: { step: 0 }, target: to(phone) }));
    return { phone, activity_id };
  };
  const shown = async (activity_id: string): Promise<Record<string, unknown>> =>
    (await live.ask("GET", `/live-activities/Order/activities/${activity_id}`)).body;
  const stepsOn = (...phones: SubscriptionRow[]): unknown[] =>
    updatesOf(fcm, phones).map(({ update }) => update.content_state["step"]);

  it("are refused while the app has no account for it", async () => {
    const others = liveActivities({ ...sending, system: await sending.system.another() }, api);
    await others.aType("Order", { platforms });
    const body = { content_state: { step: 0 }, target: { all: true } };
    const { status, body: answer } = await others.ask("POST", "/live-activities/Order/start", body);
    expect(status).to.equal(409);
    expect(answer["error"]).to.deep.include({
      code: "HS_CHANNEL_NOT_CONFIGURED",
      details: { channel: "android_push" },
    });
  });

  it("are started, updated and ended beside those on iOS", async () => {
    const [phone, { device, startToken }, activity_id] = [await aPhone(), await anIphone(), anId()];
    const alert = { title: { en: "Packed" } };
    const begin = { activity_id, content_state: { step: 1 }, attributes: { shop: "Corner" }, alert };
    const answer = await live.ask("POST", "/live-activities/Order/start", { ...begin, target: to(phone, device) });
    expect(answer.body).to.deep.include({ activity_id, recipients_estimate: 2 });
    const started = await live.ended(String(answer.body["message_id"]));
    expect(started.counts).to.include({ targeted: 2, sent: 2 });
    expect(live.pushes(startToken)).to.have.length(1);
    expect((await shown(activity_id))["recipients"]).to.include({ starting: 1, active: 1 });

    const token = await live.shows(device, activity_id);
    const update = { activity_id, content_state: { step: 2 }, stale_date: 1_900_000_000, priority: 5 };
    await live.ended(await live.send("update", update));
    const end = await live.ended(await live.send("end", { activity_id, dismissal_date: 1_900_000_001 }));
    expect(stepsOf(live.pushes(token))).to.deep.equal([2, 2]);
    const of = { activity_id, activity_type: "Order", attributes: { shop: "Corner" } };
    const pushes = updatesOf(fcm, [phone]);
    const at = pushes.map(({ update: { timestamp } }) => timestamp);
    expect(pushes.map(({ update: sent }) => sent)).to.deep.equal([
      { ...of, event: "start", content_state: { step: 1 }, timestamp: at[0], alert: { title: "Packed" } },
      { ...of, event: "update", content_state: { step: 2 }, timestamp: at[1], stale_at: 1_900_000_000_000 },
      { ...of, event: "end", content_state: { step: 2 }, timestamp: at[2], dismiss_at: 1_900_000_001_000 },
    ]);
    const [urgent, late] = [
      ["HIGH", undefined],
      ["NORMAL", activity_id],
    ];
    expect(pushes.map(({ android }) => [android["priority"], android["collapse_key"]])).to.deep.equal([
      urgent,
      late,
      urgent,
    ]);
    expect(at).to.deep.equal(at.toSorted((a, b) => a - b));
    const { body } = await live.ask("GET", `/live-activities/Order/activities/${activity_id}`);
    expect(body["recipients"]).to.include({ active: 0, ended: 2 });
    const deliveries = await live.deliveries(end._id);
    expect(deliveries.map(({ channel, status, activity_id: id }) => [channel, status, id])).to.have.deep.members([
      ["android_push", "sent", activity_id],
      ["ios_push", "sent", activity_id],
    ]);
  });

  it("get updates in their order, the last one among them, and none that was overtaken", async () => {
    const { phone, activity_id } = await running();
    fcm.script({ delay_ms: 1_000 }); // far longer than the next update takes to come
    const ids: string[] = [];
    for (let step = 1; step <= 20; step++)
      ids.push(await live.send("update", { activity_id, content_state: { step } }));
    const ended = await Promise.all(ids.map((id) => live.ended(id)));
    const steps = stepsOn(phone) as number[];
    expect(steps).to.deep.equal(steps.toSorted((a, b) => a - b));
    expect(steps.at(-1)).to.equal(20);
    expect(ended.filter(({ live_activity: of }) => of?.is_superseded === true).length).to.be.above(0);
  });

  it("are added to a running activity, each phone once", async () => {
    const [{ phone, activity_id }, other] = [await running(), await aPhone()];
    const body = { activity_id, content_state: { step: 5 }, target: to(phone, other) };
    const again = await live.ended(await live.send("start", body));
    expect(again.counts).to.include({ targeted: 2, sent: 1, suppressed: 1 });
    expect([stepsOn(phone), stepsOn(other)]).to.deep.equal([[0], [5]]);
    const reasons = (await live.deliveries(again._id)).map(({ suppression_reason: reason }) => reason);
    expect(reasons).to.have.members([undefined, "already_started"]);
  });

  it("are lost with the address, which is invalid for every message then", async () => {
    const { phone, activity_id } = await running();
    fcm.script({ answers: [{ address_prefix: phone.token, status: 404, reason: "UNREGISTERED" }] });
    const lost = await live.ended(await live.send("update", { activity_id, content_state: { step: 1 } }));
    expect((await live.deliveries(lost._id))[0]).to.include({ status: "failed", error_code: "TOKEN_UNREGISTERED" });
    expect((await shown(activity_id))["recipients"]).to.include({ active: 0, lost: 1 });
    const row = await sending.system.db.collection<SubscriptionRow>("subscriptions").findOne({ _id: phone._id });
    expect(row).to.include({ status: "invalid" });
    const next = await live.ended(await live.send("update", { activity_id, content_state: { step: 2 } }));
    expect(next.counts).to.include({ targeted: 0 });
  });

  it("stay where an activity is when its type is changed to iOS alone", async () => {
    const { phone, activity_id } = await running();
    const setTo = async (of: readonly string[]) =>
      expect((await live.ask("PATCH", "/live-activities/types/Order", { platforms: of })).status).to.equal(200);
    await setTo(["ios"]);
    await live.ended(await live.send("end", { activity_id }));
    await setTo(platforms);
    expect(updatesOf(fcm, [phone]).at(-1)?.update).to.include({ event: "end" });
  });

  it("get each update by themselves while a broadcast channel takes those of iOS", async () => {
    await live.aType("Match", { platforms });
    const channels = "/live-activities/types/Match/channels";
    await live.ask("POST", channels, {});
    const list = async () => (await live.ask("GET", channels)).body["data"] as Record<string, unknown>[];
    await until(async () => (await list())[0]?.["status"] === "ready");
    const [{ device, startToken }, phone] = [await anIphone("Match"), await aPhone()];
    const body = { activity_id: "final", content_state: { step: 0 }, target: to(device, phone), channel: true };
    await live.ended(await live.send("start", body, "Match"));
    expect(live.pushes(startToken)[0]?.aps).to.have.property("input-push-channel");
    const update = { activity_id: "final", content_state: { step: 1 } };
    const { status, body: sent } = await live.ask("POST", "/live-activities/Match/update", update);
    expect([status, sent["recipients_estimate"]]).to.deep.equal([202, 2]);
    expect((await live.ended(String(sent["message_id"]))).counts).to.include({ targeted: 2, sent: 2 });
    expect(stepsOn(phone)).to.deep.equal([0, 1]);
    const asked = (id: unknown) => sending.apns.log.page().filter(({ address }) => address === id);
    expect(asked((await list())[0]?.["apns_channel_id"])).to.have.length(1);
  });

  it("have no broadcast channels of their own", async () => {
    await live.aType("Ride", { platforms: ["android"] });
    const body = { content_state: { step: 0 }, target: { all: true }, channel: true };
    const { status, body: answer } = await live.ask("POST", "/live-activities/Ride/start", body);
    expect([status, answer["error"]]).to.deep.include(400);
    expect((answer["error"] as { details: object }).details).to.include({ field: "channel" });
  });

  it("take no update that is too large beside the attributes, which every push carries", async () => {
    const [phone, activity_id] = [await aPhone(), anId()];
    const attributes = { about: "a".repeat(2_000) };
    await live.send("start", { activity_id, content_state: { step: 0 }, attributes, target: to(phone) });
    const large = { activity_id, content_state: { step: 1, note: "b".repeat(2_000) } };
    const { status, body } = await live.ask("POST", "/live-activities/Order/update", large);
    expect(status).to.equal(400);
    const { details } = body["error"] as { details: Record<string, unknown> };
    expect(details).to.include({ channel: "android_push", limit_bytes: 4096 });
    expect(details["actual_bytes"]).to.be.within(4_097, 4_500);
  });

  it("reach more phones than a chunk has, beside devices of iOS", async () => {
    await live.aType("Big", { platforms });
    const [phones, iphones] = [await seedPhones(sending.system, 510), [await anIphone("Big"), await anIphone("Big")]];
    const begin = { activity_id: "big", content_state: { step: 1 }, target: { all: true } };
    const { body } = await live.ask("POST", "/live-activities/Big/start", begin);
    const { counts } = await live.ended(String(body["message_id"]), 40_000);
    expect(counts.targeted).to.be.at.least(512);
    expect(body["recipients_estimate"]).to.equal(counts.targeted);
    expect(counts.sent).to.equal(counts.targeted);
    for (const { device } of iphones) await live.shows(device, "big");
    const update = { activity_id: "big", content_state: { step: 2 } };
    const updated = await live.ended(await live.send("update", update, "Big"), 40_000);
    expect(updated.counts).to.include({ targeted: counts.targeted, sent: counts.targeted });
    const last = new Map(updatesOf(fcm, phones).map(({ token, update: sent }) => [token, sent.content_state["step"]]));
    expect([last.size, new Set(last.values())]).to.deep.equal([510, new Set([2])]);
  });
});
