import { expect } from "chai";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { Why, WhyGateName, WhySummary } from "#core/schema/why/why.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { checkReply } from "../../support/api/openapi-check.ts";
import { aSubscription, aUser, longSince, seed } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { type ReadEvents, readEvents } from "../../support/system/events.ts";
import { aToken, deliveriesOf, type Sending, send, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

describe("why somebody got a notification, or did not", () => {
  let sending: Sending;
  let api: SystemProgram;
  let events: ReadEvents;
  const people = new Map<string, { user: UserRow; device: SubscriptionRow }>();

  /** Each with what keeps a message from them, and the gate that is to say so; null: it arrives. */
  const planted: [name: string, user: Partial<UserRow>, device: Partial<SubscriptionRow>, gate: WhyGateName | null][] =
    [
      ["gold", {}, {}, null],
      ["listed", {}, {}, "excluded"],
      ["silver", { tags: { plan: "silver" } }, {}, "segment"],
      ["french", { language: "fr" }, {}, "filter"],
      ["mailed", {}, { channel: "email", token: "why@example.com" }, "channel"],
      ["unsubscribed", {}, { status: "unsubscribed" }, "subscription"],
      ["invalid", {}, { status: "invalid" }, "subscription"],
      ["suppressed", {}, {}, "suppression"],
      ["muted", {}, {}, "category"],
      ["refused", {}, { token: aToken("dead") }, "send"],
    ];

  const rest = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const { token, app } = sending.system;
    const at = `/v1/apps/${app._id}${path}`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const reply = await fetch(api.url + at, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const read = (await reply.json()) as T;
    checkReply(method, at.split("?", 1)[0] ?? "", reply.status, read);
    expect(reply.status, JSON.stringify(read)).to.be.within(200, 299);
    return read;
  };
  const why = (id: string, query: string): Promise<Why> => rest<Why>("GET", `/notifications/${id}/why?${query}`);
  const ofName = (id: string, name: string): Promise<Why> => why(id, `external_id=${name}`);

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    events = await readEvents((await testServers()).natsUrl, system.prefix);
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    for (const [name, user, device] of planted) {
      const one = aUser({ ...of, external_id: name, tags: { plan: "gold" }, language: "de", ...user });
      const its = aSubscription({ ...of, user_id: one._id, external_id: name, token: aToken(), ...device });
      people.set(name, { user: one, device: its });
    }
    const all = [...people.values()];
    await seed(system.db, { users: all.map(({ user }) => user), subscriptions: all.map(({ device }) => device) });
    sending.apns.script({ answers: [{ address_prefix: "dead", status: 410, reason: "Unregistered" }] });
    [api] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    await rest("POST", "/segments", {
      name: "Gold",
      filter: { all: [{ field: "tags.plan", op: "eq", value: "gold" }] },
    });
    const { id } = await rest<{ id: string }>("POST", "/segments", { name: "Listed", kind: "list" });
    await rest("POST", `/segments/${id}/members`, { users: [{ label: "external_id", id: "listed" }] });
    await rest("POST", "/suppressions", { external_id: "suppressed", reason: "manual" });
    await rest("POST", "/suppressions", { external_id: "muted", reason: "unsubscribe", categories: ["news"] });
    await system.db
      .collection<UserRow>("users")
      .updateMany({ app_id: system.app._id }, { $set: { updated_at: longSince } });
  });
  after(async () => {
    await events?.close();
    await sending?.close();
  });

  const message = {
    target: {
      included_segments: ["Gold"],
      excluded_segments: ["Listed"],
      filters: { all: [{ field: "language", op: "eq", value: "de" }] },
    },
    category: "news",
  };

  it("names the gate at which each cause was planted, as the dispatcher decided", async () => {
    const id = await send(sending.system, api, message);
    await sending.system.ended(id, 25_000);
    const sent = (await deliveriesOf(sending.system, id)).filter(({ status }) => status === "sent");
    for (const [name, , , gate] of planted) {
      const found = await ofName(id, name);
      const [recipient] = found.recipients;
      expect(recipient?.decided_by, `${name}: ${found.sentence}`).to.equal(gate);
      expect(
        sent.some(({ external_id }) => external_id === name),
        name,
      ).to.equal(gate === null);
      const last = recipient?.gates.at(-1);
      expect([last?.verdict === "stop", last?.verdict === "unknown"], name).to.deep.equal([
        gate !== null,
        gate === null,
      ]);
      expect(JSON.stringify(found)).to.not.contain(people.get(name)?.device.token);
    }
    const { recipients } = await ofName(id, "silver");
    const segment = recipients[0]?.gates.at(-1);
    expect(segment).to.include({ gate: "segment", evidence: "replayed" });
    expect(JSON.stringify(segment?.facts)).to.contain('"value":"silver","passed":false');
    const gold = await ofName(id, "gold");
    expect(gold.recipients[0]?.gates.map(({ gate, evidence }) => `${gate} ${evidence}`)).to.deep.equal([
      "accepted exact",
      "targeted exact",
      "segment replayed",
      "filter replayed",
      "excluded replayed",
      "channel exact",
      "subscription exact",
      "suppression exact",
      "category exact",
      "send exact",
      "receipt exact",
    ]);
    expect((await ofName(id, "refused")).sentence).to.contain("the provider refused it: TOKEN_UNREGISTERED");
    const summary = await rest<WhySummary>("GET", `/notifications/${id}/why/summary`);
    const count = Object.fromEntries(
      summary.gates.map((line) => [`${line.gate} ${line.verdict} ${line.reason ?? ""}`, line.count]),
    );
    expect(count).to.deep.equal({
      "excluded stop ": 1,
      "suppression stop suppression_manual": 1,
      "suppression stop suppression_unsubscribe": 1,
      "send pass ": 1,
      "send stop TOKEN_UNREGISTERED": 1,
    });
    expect(summary).to.include({ recipients: 4, excluded: 1 });
  });

  it("says what changed since it was decided", async () => {
    const id = await send(sending.system, api, { target: { included_segments: ["Gold"] } });
    await sending.system.ended(id, 25_000);
    await rest("PATCH", "/users/by/external_id/silver", { tags: { plan: "gold" } });
    const { recipients } = await ofName(id, "silver");
    const changed = recipients[0]?.gates.find(({ gate }) => gate === "segment");
    expect(changed).to.include({ verdict: "pass", evidence: "changed_since" });
    expect(recipients[0]?.decided_by).to.equal("send");
    expect(recipients[0]?.gates.at(-1)?.verdict).to.equal("unknown");
  });

  it("answers by subscription and by address, of one that is gone as well, and says that nobody is known", async () => {
    const gone = people.get("gold")?.device;
    const target = { include_external_ids: ["gold", "muted"] };
    const id = await send(sending.system, api, { target });
    await sending.system.ended(id, 25_000);
    const query = `subscription_id=${gone?._id}`;
    expect((await why(id, query)).sentence).to.match(/^It was sent at /);
    expect((await why(id, `address=${gone?.token.toUpperCase()}`)).recipients[0]?.subscription_id).to.equal(gone?._id);
    expect((await why(id, "address=why%40example.com")).recipients[0]?.decided_by).to.equal("targeted");
    await rest("DELETE", `/subscriptions/${gone?._id}`);
    expect((await why(id, query)).recipients[0]).to.include({ channel: "ios_push", decided_by: null });
    expect(await why(id, "address=nobody%40example.com")).to.deep.include({ user_id: null, recipients: [] });
    expect((await ofName(id, "nobody")).recipients[0]?.decided_by).to.equal("targeted");
  });

  it("waits with one that is scheduled, and says of one that was cancelled that it was", async () => {
    const send_after = new Date(Date.now() + 3_600_000).toISOString();
    const id = await send(sending.system, api, { target: { include_external_ids: ["muted"] }, send_after });
    expect((await ofName(id, "muted")).sentence).to.equal(`It is not decided yet: it is scheduled for ${send_after}.`);
    const headers = { authorization: `Bearer ${sending.system.token}` };
    await fetch(`${api.url}/v1/notifications/${id}`, { method: "DELETE", headers });
    expect((await ofName(id, "muted")).sentence).to.equal("It did not arrive: it was cancelled.");
  });

  it("tells the owner who asked, and takes one way to name somebody", async () => {
    const id = await send(sending.system, api, { target: { include_external_ids: ["muted"] } });
    await ofName(id, "muted");
    const told = (): EventEnvelope | undefined =>
      events.all().find((one) => one.type === "audit.created" && one.subject_id === id);
    await until(() => told() !== undefined);
    expect(told()?.data).to.deep.include({ action: "notification.explained", target: { type: "notification", id } });
    expect(JSON.stringify(told())).to.contain(people.get("muted")?.user._id);
    const { app, token } = sending.system;
    for (const query of ["", "?external_id=a&address=b"]) {
      const url = `${api.url}/v1/apps/${app._id}/notifications/${id}/why${query}`;
      expect((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status).to.equal(400);
    }
  });
});
