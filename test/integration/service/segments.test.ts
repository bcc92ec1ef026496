import { expect } from "chai";
import type { Segment } from "#core/schema/segments/segment.ts";
import type { StartTokenRow } from "#core/storage/live-activities/start-tokens.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { aStartToken, liveActivities, stepsOf } from "../../support/live-activities/activities.ts";
import { aSubscription, aUser, seed } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { aToken, deliveriesOf, nobody, post, type Sending, send, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

type Person = { user: UserRow; device: SubscriptionRow };

const tagged = (plan: string) => ({ all: [{ field: "tags.plan", op: "eq", value: plan }] });

describe("a message to segments and by filters", () => {
  let sending: Sending;
  let api: SystemProgram;
  /** Gold are all but every third, German every second; the first 20 are on the list. */
  let people: Person[];
  const made: Record<string, string> = {};

  const ask = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const { system } = sending;
    const headers = { authorization: `Bearer ${system.token}`, "content-type": "application/json" };
    const url = `${api.url}/v1/apps/${system.app._id}/segments${path}`;
    const reply = await fetch(url, { method, headers, body: JSON.stringify(body) });
    expect(reply.status, await reply.clone().text()).to.be.within(200, 201);
    return (await reply.json()) as Record<string, unknown>; // every reply is an object
  };

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    people = Array.from({ length: 1_200 }, (_, i) => {
      const user = aUser({
        ...of,
        tags: { plan: i % 3 === 0 ? "silver" : "gold" },
        language: i % 2 === 0 ? "de" : "fr",
      });
      return { user, device: aSubscription({ ...of, user_id: user._id, token: aToken() }) };
    });
    await seed(system.db, { users: people.map(({ user }) => user), subscriptions: people.map(({ device }) => device) });
    [api] = await Promise.all([system.start("apiserver"), system.start("dispatcher"), system.start("dispatcher")]);
    made["gold"] = String((await ask("POST", "", { name: "Gold", filter: tagged("gold") }))["id"]);
    made["list"] = String((await ask("POST", "", { name: "Listed", kind: "list" }))["id"]);
    const users = people.slice(0, 20).map(({ user }) => ({ label: "user_id", id: user._id }));
    expect((await ask("POST", `/${made["list"]}/members`, { users }))["added"]).to.equal(20);
  });

  after(() => sending?.close());

  it("has segments counted exactly in the background, and a list once somebody is on it", async () => {
    const shown = async (id = "") => {
      const { system } = sending;
      const url = `${api.url}/v1/apps/${system.app._id}/segments/${id}`;
      return (await (await fetch(url, { headers: { authorization: `Bearer ${system.token}` } })).json()) as Segment;
    };
    await until(async () => (await shown(made["gold"])).count !== null);
    expect(await shown(made["gold"])).to.deep.include({ count: 800, by_channel: { ios_push: 800 } });
    await until(async () => (await shown(made["list"])).count === 20);
  });

  const arrived = async (target: object, more: object = {}): Promise<{ message: MessageRow; reached: number[] }> => {
    const message = await sending.system.ended(await send(sending.system, api, { target, ...more }), 25_000);
    const deliveries = await deliveriesOf(sending.system, message._id);
    const of = new Map(people.map(({ device }, i) => [device._id, i]));
    const reached = deliveries
      .filter(({ status }) => status === "sent")
      .map((row) => of.get(row.subscription_id) ?? -1);
    return { message, reached: reached.sort((a, b) => a - b) };
  };
  const those = (isMeant: (i: number) => boolean): number[] => people.map((_, i) => i).filter(isMeant);
  const isGold = (i: number): boolean => i % 3 !== 0;

  it("reaches who is in a segment, each once, and nobody else, in parts of several dispatchers", async () => {
    const { message, reached } = await arrived({ included_segments: ["Gold", made["gold"]] });
    expect(reached).to.deep.equal(those(isGold));
    expect(message.counts.targeted).to.equal(800);
  });

  it("leaves out who does not pass its filter, and who is in an excluded segment", async () => {
    const filters = { all: [{ field: "language", op: "eq", value: "de" }] };
    const { reached } = await arrived({ included_segments: ["Gold"], excluded_segments: ["Listed"], filters });
    expect(reached).to.deep.equal(those((i) => isGold(i) && i % 2 === 0 && i >= 20));
  });

  it("reaches a list, and everybody who passes a filter that names one", async () => {
    expect((await arrived({ included_segments: ["Listed"] })).reached).to.deep.equal(those((i) => i < 20));
    const filters = { all: [{ field: "segment", op: "member", value: "Listed" }, ...tagged("gold").all] };
    expect((await arrived({ filters })).reached).to.deep.equal(those((i) => i < 20 && isGold(i)));
  });

  it("joins segments with ids, and narrows ids by a filter or an exclusion", async () => {
    const ids = [0, 3, 30].map((i) => people[i]?.user._id);
    const named = { include_aliases: { user_id: ids } };
    const byId = { include_subscription_ids: [people[1]?.device._id, people[1_199]?.device._id] };
    const joined = await arrived({ included_segments: ["Listed"], ...named, ...byId });
    expect(joined.reached).to.deep.equal(those((i) => i < 20 || i === 30 || i === 1_199));
    const left = await arrived({ ...named, ...byId, excluded_segments: ["Listed"], filters: tagged("gold") });
    expect(left.reached).to.deep.equal([1_199]);
    expect(left.message.accepted.recipients_estimate).to.equal(1);
  });

  it("goes to whom its segments meant when it was accepted, though they change", async () => {
    const { id } = await ask("POST", "", { name: "Changing", filter: tagged("silver") });
    const send_after = new Date(Date.now() + 2_000).toISOString();
    const waiting = await send(sending.system, api, { target: { included_segments: ["Changing"] }, send_after });
    await ask("PATCH", `/${String(id)}`, { filter: tagged("gold") });
    const message = await sending.system.ended(waiting, 60_000);
    expect(message.counts.sent).to.equal(those((i) => !isGold(i)).length);
  });

  it("fails when a segment that it names is deleted by force before its time, and reaches nobody", async () => {
    const { id } = await ask("POST", "", { name: "Short-lived", filter: tagged("silver") });
    const target = { all: true, excluded_segments: ["Short-lived"] };
    const send_after = new Date(Date.now() + 3_600_000).toISOString();
    const waiting = await send(sending.system, api, { target, send_after });
    await ask("DELETE", `/${String(id)}?force=true`, {});
    const due = { scheduled_for: new Date(), due_at: new Date() };
    await sending.system.db.collection<MessageRow>("messages").updateOne({ _id: waiting }, { $set: due });
    const { status, error, counts } = await sending.system.ended(waiting, 60_000);
    expect([status, error, counts.targeted]).to.deep.equal(["failed", `HS_NOT_FOUND: segment ${String(id)}`, 0]);
  });

  it("starts a live activity by segments on each of their devices once, and on nobody who is excluded", async () => {
    const live = liveActivities(sending, api);
    const type = String((await live.aType()).body["id"]);
    await ask("POST", "", { name: "German", filter: { all: [{ field: "language", op: "eq", value: "de" }] } });
    const { db } = sending.system;
    const second = aSubscription({ ...(people[1] as Person).device, _id: nobody(), token: aToken() }); // there are 1,200
    await seed(db, { subscriptions: [second] });
    const able = [...people.slice(0, 900).map(({ device }) => device), second];
    const tokens = able.map((device) => aStartToken(device, type));
    await db.collection<StartTokenRow>("live_activity_start_tokens").insertMany(tokens);
    const target = { included_segments: ["Gold", "Listed", "Gold"], excluded_segments: ["German"] };
    const body = { activity_id: "o-1", content_state: { step: 1 }, target };
    const meant = [
      ...those((i) => i < 900 && (isGold(i) || i < 20) && i % 2 === 1).map((i) => people[i]?.device._id),
      second._id,
    ];
    const started = await live.ended(await live.send("start", body), 30_000);
    expect(started.counts).to.include({ targeted: meant.length, sent: meant.length });
    const pushed = live.pushes().map(({ token, aps }) => [token, aps.event, aps["content-state"]]);
    const tokenOf = new Map(tokens.map(({ subscription_id: id, token }) => [id, token]));
    expect(pushed).to.have.deep.members(meant.map((id) => [tokenOf.get(id ?? ""), "start", { step: 1 }]));
    const again = await live.ended(await live.send("start", body), 30_000);
    expect(again.counts).to.include({ targeted: meant.length, sent: 0, suppressed: meant.length });
    expect(live.pushes()).to.have.length(meant.length);
    const token = await live.shows(second, "o-1");
    await live.ended(await live.send("update", { activity_id: "o-1", content_state: { step: 2 } }));
    expect(stepsOf(live.pushes(token))).to.deep.equal([2]);
  });

  it("is refused for an unknown segment, or a faulty filter, by its place", async () => {
    for (const [target, field] of [
      [{ included_segments: ["Gold", "Nobody's"] }, "target.included_segments[1]"],
      [{ all: true, excluded_segments: ["Nobody's"] }, "target.excluded_segments[0]"],
      [{ filters: { any: [{ field: "tags.plan", op: "near", value: 1 }] } }, "target.filters.any[0].op"],
      [{ excluded_segments: ["Gold"] }, "target"],
    ] as const) {
      const { status, body } = await post(sending.system, api, { target });
      const { details } = body["error"] as { details: Record<string, unknown> };
      expect([status, details["field"]]).to.deep.equal([400, field]);
    }
  });
});
