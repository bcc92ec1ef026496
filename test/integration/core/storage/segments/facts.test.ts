import { expect } from "chai";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { ulid } from "#core/domain/ids.ts";
import { judge } from "#core/domain/segments/judge.ts";
import { type Selection, segmentMembers } from "#core/domain/segments/members.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { userCollection } from "#core/storage/people/users.ts";
import { aimedSubscriptions } from "#core/storage/segments/aimed.ts";
import { segmentPeople } from "#core/storage/segments/people.ts";
import { suppressionKeyCollection, suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { suppressionCollection, suppressionRow, suppressions } from "#core/storage/suppressions/suppressions.ts";
import { storedFacts } from "../../../../support/filters/facts.ts";
import { seeded } from "../../../../support/filters/random.ts";
import { aSubscription, aUser, seed, testKeyRing } from "../../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const ofApp = { tenantId: of.tenant_id, appId: of.app_id };
const now = new Date("2026-06-15T12:00:00Z");
const ago = (days: number): Date => new Date(now.getTime() - days * 86_400_000);
const one = (field: string, op: string, value?: unknown) => ({ field, op, ...(value !== undefined && { value }) });

describe("filters on what is stored of people elsewhere", () => {
  const db = testDatabase("filter_facts", [
    deliveryCollection,
    eventCollection,
    subscriptionCollection,
    suppressionCollection,
    suppressionKeyCollection,
    userCollection,
  ]);
  /** Ada: by her external id, ours, that of one who was merged into her and that of her device. Bob: once. Cy: never. */
  const people = {
    ada: aUser({ ...of, _id: "usr_ada", external_id: "ada", merged_keys: ["user_id:usr_former"] }),
    bob: aUser({ ...of, _id: "usr_bob" }),
    cy: aUser({ ...of, _id: "usr_cy" }),
  };
  Object.assign(people.ada, { alias_keys: ["external_id:ada", "user_id:usr_former"] });
  const devices = Object.entries(people).map(([name, { _id, external_id }]) =>
    aSubscription({
      ...of,
      _id: `sub_${name}`,
      user_id: _id,
      external_id,
      channel: "email",
      token: `${name}@example.com`,
    }),
  );
  let made = 0;
  const event = (person: string, change: Partial<EventRow> = {}): EventRow => ({
    ...of,
    _id: `evt_${++made}`,
    name: "buy",
    occurred_at: ago(1),
    received_at: now,
    person,
    source: "api",
    batch: "b",
    ...change,
  });
  const delivery = (user_id: string, change: Partial<DeliveryRow>): DeliveryRow => ({
    ...of,
    _id: `dlv_${++made}`,
    message_id: "msg_1",
    subscription_id: "sub_x",
    user_id,
    channel: "email",
    address_masked: null,
    position: ulid(now),
    status: "sent",
    attempts: 1,
    sent_at: ago(3),
    created_at: now,
    updated_at: now,
    ...change,
  });

  before(async () => {
    await seed(db(), { users: Object.values(people), subscriptions: devices });
    const total = (all: number) => ({ properties: JSON.stringify({ cart: { total: all } }) });
    await db()
      .collection<EventRow>("events")
      .insertMany([
        event("external_id:ada", total(10)),
        event("usr_ada", { occurred_at: ago(40), ...total(70) }),
        event("usr_former", { occurred_at: ago(2) }),
        event("sub_ada", { occurred_at: new Date(now.getTime() + 1) }), // behind the instant of the judgement
        event("sub_ada", { occurred_at: now, ...total(70) }),
        event("usr_bob"),
        event("usr_bob", { name: "look" }),
        event("usr_cy", { app_id: "app_2" }),
      ]);
    await db()
      .collection<DeliveryRow>("deliveries")
      .insertMany([
        delivery("usr_ada", { status: "clicked", clicked_at: ago(1) }),
        delivery("usr_former", { status: "opened", opened_at: ago(2), channel: "ios_push", message_id: "msg_2" }),
        delivery("usr_bob", { status: "bounced", bounced_at: ago(3) }),
        delivery("usr_bob", { sent_at: ago(20) }),
        delivery("usr_cy", { app_id: "app_2" }),
      ]);
    const subjectOf = await suppressionKeys(db(), keyRing(testKeyRing), { now: () => now })(ofApp);
    const key = "email:bob@example.com";
    const about = { channel: "email" as const, subject: subjectOf(key), key, address: "bob@example.com" };
    const said = { reason: "manual", source: "api", categories: null, note: null, expires_at: null } as const;
    const row = suppressionRow(ofApp, {
      id: "sup_1",
      about: { ...about, externalId: null, userId: null },
      said,
      at: ago(1),
    });
    await suppressions(db()).put([row], now);
  });

  /** Whom reading all people of an app finds, in the order of their ids. */
  const members = async (selection: Selection, appId = of.app_id): Promise<string[]> => {
    const reading = { ...selection, query: selection.query("users") };
    const read = segmentPeople(db(), storedFacts(db())).all({ ...ofApp, appId }, reading, new AbortController().signal);
    const found: string[] = [];
    for await (const page of read)
      found.push(...page.filter((one) => judge(selection, one).isMember).map(({ person }) => person._id));
    return found;
  };

  const passing = async (...all: object[]): Promise<string[]> => {
    const selection = segmentMembers(new Map(), now).ofFilter(parseFilter({ all }));
    const found = (await members(selection)).map((id) => id.slice(4));
    const aimed = aimedSubscriptions(db(), storedFacts(db()));
    const { rows } = await aimed.page(
      { ...ofApp, channel: "email", status: "subscribed", testOnly: false, after: "", limit: 10 },
      selection,
    );
    expect(
      rows.map(({ user_id: id }) => id.slice(4)),
      "a message goes to the same",
    ).to.have.members(found);
    return found.sort();
  };

  it("count events under every name that somebody had, once each, and nobody else's", async () => {
    const count = (op: string, value: number) => one("events.buy", "performed", { count: { op, value } });
    expect(await passing(one("events.buy", "performed"))).to.deep.equal(["ada", "bob"]);
    expect(await passing(count("eq", 4))).to.deep.equal(["ada"]);
    expect(await passing(count("lt", 4))).to.deep.equal(["bob"]);
    expect(await passing(one("events.buy", "not_performed"))).to.deep.equal(["cy"]);
    expect(await passing(one("events.look", "not_performed"))).to.deep.equal(["ada", "cy"]);
  });

  it("count those of the last days, and those whose properties are as is asked", async () => {
    const asked = (value: object) => one("events.buy", "performed", value);
    expect(await passing(asked({ within_days: 30, count: { op: "eq", value: 3 } }))).to.deep.equal(["ada"]);
    const where = [{ property: "cart.total", op: "gt", value: 50 }];
    expect(await passing(asked({ where, count: { op: "eq", value: 2 } }))).to.deep.equal(["ada"]);
    expect(await passing(asked({ where, within_days: 30, count: { op: "eq", value: 1 } }))).to.deep.equal(["ada"]);
    expect(await passing(asked({ where: [{ property: "cart", op: "not_exists" }] }))).to.deep.equal(["ada", "bob"]);
  });

  it("count messages that were received, opened and clicked", async () => {
    const asked = (step: string, value?: object) => passing(one(`messages.${step}`, "performed", value));
    expect(await asked("received", { count: { op: "gte", value: 2 } })).to.deep.equal(["ada"]);
    expect(await asked("received", { count: { op: "eq", value: 1 } }), "a bounce is none").to.deep.equal(["bob"]);
    expect(await asked("received", { within_days: 7 })).to.deep.equal(["ada"]);
    expect(await asked("opened", { count: { op: "eq", value: 2 } }), "a click is one").to.deep.equal(["ada"]);
    expect(await asked("opened", { where: [{ property: "channel", op: "eq", value: "ios_push" }] })).to.deep.equal([
      "ada",
    ]);
    expect(await asked("clicked", { where: [{ property: "message_id", op: "in", value: ["msg_2"] }] })).to.deep.equal(
      [],
    );
    expect(await asked("clicked")).to.deep.equal(["ada"]);
  });

  it("find who is on the suppression list, on the channel of each subscription", async () => {
    expect(await passing(one("suppressed", "eq", true))).to.deep.equal(["bob"]);
    expect(await passing(one("suppressed", "eq", false), one("events.buy", "performed"))).to.deep.equal(["ada"]);
  });

  it("agree with counting by hand for random events of many people", async () => {
    const random = seeded(5);
    const app = { tenant_id: "ten_1", app_id: "app_many" };
    const many = Array.from({ length: 120 }, (_, n) =>
      aUser({ ...app, _id: `usr_many_${String(n).padStart(4, "0")}` }),
    );
    const events = Array.from({ length: 600 }, () =>
      event(many[Math.floor(random() * many.length)]?._id ?? "", { ...app, occurred_at: ago(random() * 60) }),
    );
    await seed(db(), { users: many });
    await db().collection<EventRow>("events").insertMany(events);
    for (const [op, value, within_days] of [
      ["gte", 3, 30],
      ["eq", 2, 10],
      ["lte", 5, 365],
    ] as const) {
      const condition = one("events.buy", "performed", { count: { op, value }, within_days });
      const selection = segmentMembers(new Map(), now).ofFilter(parseFilter({ all: [condition] }));
      const isAsked = (n: number) => n > 0 && (op === "gte" ? n >= value : op === "eq" ? n === value : n <= value);
      const expected = many.filter(({ _id }) =>
        isAsked(events.filter((each) => each.person === _id && each.occurred_at >= ago(within_days)).length),
      );
      expect(await members(selection, app.app_id)).to.deep.equal(expected.map(({ _id }) => _id));
    }
  });
});
