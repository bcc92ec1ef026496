import { expect } from "chai";
import type { StartTokenRow } from "#core/storage/live-activities/start-tokens.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import {
  aStartToken,
  type LiveSystem,
  startLiveActivities,
  stepsOf,
} from "../../../support/live-activities/activities.ts";
import { aToken, seedDevices } from "../../../support/system/sending.ts";
import { until } from "../../../support/until.ts";

describe("live activities from the REST call to Apple", () => {
  let sending: LiveSystem["sending"];
  let live: LiveSystem["live"];
  let names = 0;

  before(async () => {
    ({ sending, live } = await startLiveActivities({ dispatchers: 2 }));
  });
  after(() => sending?.close());
  afterEach(() => sending.apns.script({}));

  const devices = (count: number): Promise<SubscriptionRow[]> => seedDevices(sending.system, count);
  const aDevice = async (): Promise<SubscriptionRow> => (await devices(1))[0] as SubscriptionRow; // one was made
  const anId = (): string => `order-${++names}`;
  const to = (...of: readonly SubscriptionRow[]) => ({ include_subscription_ids: of.map(({ _id }) => _id) });

  /** An activity on one device, which has reported its token. */
  const running = async () => {
    const [device, activity_id] = [await aDevice(), anId()];
    await live.startOn(device, activity_id);
    return { device, activity_id, token: await live.shows(device, activity_id) };
  };

  it("starts an activity on those who have a token for its type, updates it and ends it with its last state", async () => {
    const [able, unable, activity_id] = [await aDevice(), await aDevice(), anId()];
    const startToken = await live.canStart(able);
    const alert = { title: { en: "Packed", de: "Gepackt" }, sound: "bell.caf" };
    const body = { activity_id, content_state: { step: 1 }, attributes: { shop: "Corner" }, alert };
    const answer = await live.ask("POST", "/live-activities/Order/start", { ...body, target: to(able, unable) });
    expect(answer.body).to.deep.include({ activity_id, event: "start", recipients_estimate: 1 });
    const started = await live.ended(String(answer.body["message_id"]));
    expect(started).to.include({ status: "completed", category: "live_activity" });
    expect(started.counts).to.include({ targeted: 1, sent: 1 });
    const [push] = live.pushes(startToken);
    expect(push).to.include({ topic: "dev.herald.test.push-type.liveactivity", priority: "10" });
    expect(push?.aps).to.deep.include({
      event: "start",
      "attributes-type": "Order",
      attributes: { shop: "Corner", herald_activity_id: activity_id },
      "content-state": { step: 1 },
      alert: { title: "Packed", sound: "bell.caf" },
      "input-push-token": 1,
    });
    const token = await live.shows(able, activity_id);
    await live.ended(await live.send("update", { activity_id, content_state: { step: 2 } }));
    const end = await live.ended(await live.send("end", { activity_id, dismissal_date: 1_900_000_000 }));
    expect(live.pushes(token).map(({ aps: { event, ...aps } }) => [event, aps["content-state"]])).to.deep.equal([
      ["update", { step: 2 }],
      ["end", { step: 2 }],
    ]);
    const [delivery] = await live.deliveries(end._id);
    expect(delivery).to.include({ status: "sent", activity_id, subscription_id: able._id });
  });

  it("shows each send as a notification with what was sent", async () => {
    const { activity_id } = await running();
    const id = await live.send("update", { activity_id, content_state: { step: 3 }, relevance_score: 0.5, name: "n" });
    const message = await live.ended(id);
    expect(message.live_activity).to.include({ event: "update", activity_id, type_name: "Order" });
  });

  it("holds the latest update for a device that has reported no token yet", async () => {
    const [device, activity_id] = [await aDevice(), anId()];
    await live.canStart(device);
    await live.ended(await live.send("start", { activity_id, content_state: { step: 0 }, target: to(device) }));
    const [first, second] = [
      await live.ended(await live.send("update", { activity_id, content_state: { step: 1 } })),
      await live.ended(await live.send("update", { activity_id, content_state: { step: 2 } })),
    ];
    const statusOf = async (id: string) => (await live.deliveries(id)).map(({ status }) => status);
    expect([await statusOf(first._id), await statusOf(second._id)]).to.deep.equal([["suppressed"], ["scheduled"]]);
    const token = await live.shows(device, activity_id);
    await until(() => live.pushes(token).length === 1);
    await until(async () => (await statusOf(second._id))[0] === "sent");
    expect(stepsOf(live.pushes(token))).to.deep.equal([2]);
    await live.ended(await live.send("update", { activity_id, content_state: { step: 3 } }));
    expect(stepsOf(live.pushes(token))).to.deep.equal([2, 3]);
  });

  it("ends an activity on a device that reports its token after the end", async () => {
    const [device, activity_id] = [await aDevice(), anId()];
    await live.canStart(device);
    await live.ended(await live.send("start", { activity_id, content_state: { step: 0 }, target: to(device) }));
    await live.ended(await live.send("end", { activity_id }));
    const token = await live.shows(device, activity_id);
    await until(() => live.pushes(token).length === 1);
    expect(live.pushes(token)[0]?.aps).to.deep.include({ event: "end", "content-state": { step: 0 } });
  });

  it("adds devices to a running activity, each once", async () => {
    const { device, activity_id } = await running();
    const other = await aDevice();
    const token = await live.canStart(other);
    const body = { activity_id, content_state: { step: 5 }, target: to(device, other) };
    const again = await live.ended(await live.send("start", body));
    expect(again.counts).to.include({ targeted: 2, sent: 1, suppressed: 1 });
    expect(stepsOf(live.pushes(token))).to.deep.equal([5]);
    const reasons = (await live.deliveries(again._id)).map(({ suppression_reason: reason }) => reason);
    expect(reasons).to.have.members([undefined, "already_started"]);
  });

  it("refuses sends to an activity that has ended or was never started", async () => {
    const { activity_id } = await running();
    await live.send("end", { activity_id, content_state: { step: 9 } });
    const bodies = { update: { activity_id, content_state: { step: 1 } }, end: { activity_id } };
    for (const [event, body] of Object.entries(bodies)) {
      const { status, body: answer } = await live.ask("POST", `/live-activities/Order/${event}`, body);
      expect([status, answer["error"]]).to.deep.include(409);
      const unknown = await live.ask("POST", `/live-activities/Order/${event}`, { ...body, activity_id: "nobody's" });
      expect(unknown.status).to.equal(404);
    }
  });

  it("answers a repeated key with the first reply", async () => {
    const { activity_id, token } = await running();
    const body = { activity_id, content_state: { step: 4 } };
    const path = "/live-activities/Order/update";
    const [first, second] = [await live.ask("POST", path, body, "key-1"), await live.ask("POST", path, body, "key-1")];
    expect(second.body).to.deep.equal(first.body);
    expect(second.headers.get("Idempotent-Replayed")).to.equal("true");
    await live.ended(String(first.body["message_id"]));
    expect(stepsOf(live.pushes(token))).to.deep.equal([4]);
  });

  for (const [what, status, reason, error_code] of [
    ["is gone", 410, "Unregistered", "TOKEN_UNREGISTERED"],
    ["is of its other environment", 400, "BadDeviceToken", "TOKEN_INVALID"],
    ["is another app's", 400, "DeviceTokenNotForTopic", "TOKEN_INVALID"],
  ] as const)
    it(`forgets a token that Apple says ${what}, and keeps the device`, async () => {
      const { device, activity_id, token } = await running();
      sending.apns.script({ answers: [{ address_prefix: token, status, reason }] });
      const lost = await live.ended(await live.send("update", { activity_id, content_state: { step: 1 } }));
      expect((await live.deliveries(lost._id))[0]).to.include({ status: "failed", error_code });
      const next = await live.ended(await live.send("update", { activity_id, content_state: { step: 2 } }));
      expect(next.counts).to.include({ targeted: 0 });
      const row = await sending.system.db.collection<SubscriptionRow>("subscriptions").findOne({ _id: device._id });
      expect(row).to.include({ status: "subscribed" });
    });

  it("tells the token of another activity from its own", async () => {
    const [one, other] = [await running(), await running()];
    const body = { kind: "update", activity_id: other.activity_id, token: one.token };
    const { status } = await live.ask("PUT", live.tokensOf(one.device), body);
    expect(status).to.equal(409);
  });

  it("shows each device the updates in their order, and drops those that were overtaken", async () => {
    const { activity_id, token } = await running();
    sending.apns.script({ delay_ms: 300 });
    const ids = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        await new Promise((resolve) => setTimeout(resolve, i * 30));
        return live.send("update", { activity_id, content_state: { step: i + 1 } });
      }),
    );
    const ended = await Promise.all(ids.map((id) => live.ended(id)));
    const shown = stepsOf(live.pushes(token)) as number[];
    const accepted = ended
      .toSorted((one, other) => (one._id < other._id ? -1 : 1)) // requests under way at once may be taken in another order
      .map(({ live_activity: change }) => change?.content_state["step"] as number);
    expect(shown).to.deep.equal(accepted.filter((step) => shown.includes(step)));
    expect(shown.at(-1)).to.equal(accepted.at(-1));
    const dropped = ended.filter(
      ({ live_activity: change, counts }) => change?.is_superseded === true || counts.suppressed === 1,
    );
    const unseen = ended
      .filter((message) => !dropped.includes(message))
      .filter(({ live_activity: change }) => !shown.includes(change?.content_state["step"] as number))
      .map(({ live_activity: change, status, fence, error, counts }) => ({ change, status, fence, error, counts }));
    expect(unseen).to.deep.equal([]);
    expect(dropped.length).to.be.above(0);
  });

  it("starts and updates an activity on more devices than a chunk has", async () => {
    const { body: type } = await live.aType("Match");
    const many = await devices(620);
    const { db } = sending.system;
    const tokens = db.collection<StartTokenRow>("live_activity_start_tokens");
    await tokens.insertMany(many.map((device) => aStartToken(device, String(type["id"]))));
    const body = { activity_id: "match", content_state: { step: 1 }, target: { all: true } };
    const started = await live.ended(await live.send("start", body, "Match"), 40_000);
    expect(started.counts).to.include({ targeted: 620, sent: 620 });
    const { body: types } = await live.ask("GET", "/live-activities/types");
    const counted = (types["data"] as Record<string, unknown>[]).find(({ name }) => name === "Match");
    expect(counted).to.include({ push_to_start_tokens: 620 });
    const recipients = db.collection("live_activity_recipients");
    const reported = many.map(({ _id }) => ({
      updateOne: { filter: { subscription_id: _id }, update: { $set: { token: aToken(), state: "active" } } },
    }));
    await recipients.bulkWrite(reported, { ordered: false });
    const update = { activity_id: "match", content_state: { step: 2 } };
    const updated = await live.ended(await live.send("update", update, "Match"), 40_000);
    expect(updated.counts).to.include({ targeted: 620, sent: 620 });
  });

  it("sends updates that come fast with the priority that does not use Apple's budget up", async () => {
    const { activity_id, token } = await running();
    const step = (n: number, more: object = {}) =>
      live.send("update", { activity_id, content_state: { step: n }, ...more });
    for (const id of [await step(1), await step(2), await step(3, { priority: 10 })]) await live.ended(id);
    expect(live.pushes(token).map(({ priority }) => priority)).to.include.members(["10"]);
    const last = await live.ended(await step(4));
    expect(last.live_activity).to.include({ priority: 5 });
    expect(live.pushes(token).at(-1)).to.include({ priority: "5" });
  });

  it("shows an activity with its devices and what was sent of it", async () => {
    const { activity_id } = await running();
    await live.ended(await live.send("update", { activity_id, content_state: { step: 1, note: "soon" } }));
    const path = `/live-activities/Order/activities/${activity_id}`;
    const { body } = await live.ask("GET", path);
    expect(body).to.deep.include({
      activity_id,
      status: "running",
      content_state: { step: 1, note: "soon" },
      recipients: { starting: 0, active: 1, ended: 0, lost: 0, failed: 0 },
      ended_at: null,
    });
    expect((body["history"] as { event: string }[]).map(({ event }) => event)).to.deep.equal(["update", "start"]);
    await live.ended(await live.send("end", { activity_id }));
    const { body: after } = await live.ask("GET", path);
    expect(after).to.deep.include({
      status: "ended",
      recipients: { ...(body["recipients"] as object), active: 0, ended: 1 },
    });
  });

  it("keeps a type while activities of it run, unless it is to end them", async () => {
    await live.aType("Ride");
    const target = to(await aDevice());
    await live.ended(await live.send("start", { activity_id: "ride-1", content_state: { step: 1 }, target }, "Ride"));
    const kept = await live.ask("DELETE", "/live-activities/types/Ride");
    expect([kept.status, kept.body["error"]]).to.deep.include(409);
    expect(kept.body["error"]).to.deep.include({ details: { status: "running", active_activities: 1 } });
    expect((await live.ask("DELETE", "/live-activities/types/Ride?force=true")).status).to.equal(200);
    const row = await sending.system.db.collection("live_activities").findOne({ activity_id: "ride-1" });
    expect(row).to.include({ status: "ended", ended_by: "type_deleted" });
  });

  it("forgets the tokens of a subscription that is deleted", async () => {
    const { device } = await running();
    const { db } = sending.system;
    const left = async (): Promise<number[]> =>
      Promise.all(
        ["live_activity_start_tokens", "live_activity_recipients"].map((name) =>
          db.collection(name).countDocuments({ subscription_id: device._id }),
        ),
      );
    expect(await left()).to.deep.equal([1, 1]);
    expect((await live.ask("DELETE", `/subscriptions/${device._id}`)).status).to.equal(200);
    expect(await left()).to.deep.equal([0, 0]);
  });
});
