import { expect } from "chai";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import { customEventLimits } from "#core/schema/events/custom.ts";
import { type EventEnvelope, eventKinds } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { EventBatchRow, EventIdRow } from "#core/storage/events/batch-row.ts";
import { type Api, type Installation, installation } from "../../../support/api/api.ts";
import { useSite } from "../../../support/api/site.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";

describe("POST /v1/apps/{appId}/events", () => {
  // No dispatcher runs and there is no stream: what is stored stays.
  const { site, tenant } = useSite({ HERALD_LOG_LEVEL: "warn" }, { key: { scopes: ["events:write"] } });

  beforeEach(async () => void (await rows().deleteMany({})));

  const rows = () => site.db.collection<EventBatchRow>("event_batches");
  const batches = { events: { $exists: true } };
  const publish = (events: unknown, { api = site.api, token = tenant.token, appId = tenant.app._id } = {}) =>
    api.call("POST", `/v1/apps/${appId}/events`, { token, body: { events } });
  const stored = async (): Promise<EventEnvelope[]> =>
    (await rows().find(batches).toArray()).flatMap(({ events }) =>
      events.map(({ text }) => JSON.parse(text) as EventEnvelope),
    );
  /** A list in objects: so many in all. */
  const nested = (depth: number): object =>
    Array.from({ length: depth - 1 }).reduce<object>((inner) => ({ inner }), [1]);
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

  it("accepts what it can, says by index what it cannot, and stores what it accepted", async () => {
    const { status, body } = await publish([
      { name: "a", external_id: "ann", properties: { n: 1 }, value: 2.5 },
      { name: "old", occurred_at: inMs(-31 * 86_400_000) },
      { name: "b", user_id: "usr_1", occurred_at: inMs(240_000) },
      { name: "early", occurred_at: inMs(360_000) },
    ]);
    expect(status).to.equal(202);
    expect(body).to.deep.include({ accepted: 2, duplicates: 0 });
    const errors = body["errors"] as { index: number; code: string }[];
    expect(errors.map(({ index, code }) => [index, code])).to.deep.equal([
      [1, "OCCURRED_AT_TOO_OLD"],
      [3, "OCCURRED_AT_IN_FUTURE"],
    ]);
    const [first, second] = await stored();
    expect(first).to.deep.include({ type: "event.received", app_id: tenant.app._id, subject_id: "ann" });
    expect(first?.data).to.deep.include({ name: "a", properties: { n: 1 }, value: 2.5, source: "api" });
    expect(second?.data["occurred_at"], "clamped").to.equal(second?.timestamp);
    const parse = parser(eventTypes["event.received"].data);
    for (const event of [first, second]) expect(() => parse(event?.data)).not.to.throw();
  });

  it("counts an id once: in a request, after it, at the same time, and at another replica", async () => {
    const other = await site.start();
    const twice = await publish([
      { id: "1", name: "a" },
      { id: "1", name: "a" },
      { id: "2", name: "a" },
      { name: "a" },
    ]);
    expect(twice.body).to.deep.include({ accepted: 3, duplicates: 1, errors: [] });
    const again = await publish(
      [
        { id: "1", name: "a" },
        { id: "3", name: "a" },
      ],
      { api: other },
    );
    expect(again.body).to.deep.include({ accepted: 1, duplicates: 1 });
    const ask = (api: Api) =>
      publish(
        [
          { id: "at once", name: "a" },
          { id: "too", name: "a" },
        ],
        { api },
      );
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n % 2 === 0 ? site.api : other)));
    expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([202]));
    expect(replies.reduce((sum, { body }) => sum + Number(body["accepted"]), 0)).to.equal(2);
    expect(replies.reduce((sum, { body }) => sum + Number(body["duplicates"]), 0)).to.equal(78);
  });

  it("takes an id that is used again after a day for a new event, which no receiver knows", async () => {
    await publish([{ id: "daily", name: "a" }]);
    expect((await publish([{ id: "daily", name: "a" }])).body["duplicates"]).to.equal(1);
    await rows().deleteMany({ claimed_at: { $exists: true } }); // as their index does after 24 hours
    const { body } = await publish([{ id: "daily", name: "a" }]);
    expect(body).to.deep.include({ accepted: 1, duplicates: 0 });
    const claims = await site.db
      .collection<EventIdRow>("event_batches")
      .find({ claimed_at: { $exists: true } })
      .toArray();
    const [first, next, ...others] = (await stored()).map(({ id }) => id);
    expect([others, claims.map(({ event_id: id }) => id)]).to.deep.equal([[], [next]]);
    expect(next).not.to.equal(first);
  });

  it("lets another app use the same id", async () => {
    const next = await seedTenant(site.db);
    await publish([{ id: "shared", name: "a" }]);
    const { body } = await publish([{ id: "shared", name: "a" }], { token: next.token, appId: next.app._id });
    expect(body["accepted"]).to.equal(1);
  });

  it("keeps properties as they came, whatever their names", async () => {
    const properties = { "a.b": 1, "ü €": [null, { $set: { "x.y": "\u0001\ud83d\ude00" } }], __v: {} };
    await publish([{ name: "a", properties }]);
    expect((await stored())[0]?.data["properties"]).to.deep.equal(properties);
  });

  it("takes as much as its limits say", async () => {
    const { events, propertyNames, bytes } = customEventLimits;
    const many = Object.fromEntries(Array.from({ length: propertyNames }, (_, n) => [`p${n}`, n]));
    const rest = '{"name":"large","properties":{"text":""}}'.length;
    const large = { text: "€".repeat(Math.floor((bytes - rest) / 3)) }; // three bytes each
    const full = [
      { id: "x".repeat(128), name: "n".repeat(100), external_id: "e".repeat(255) },
      { name: "many", properties: many },
      { name: "deep", properties: nested(5) },
      { name: "large", properties: large },
    ];
    const others = Array.from({ length: events - full.length }, () => ({ name: "a" }));
    const { body } = await publish([...full, ...others]);
    expect(body).to.deep.include({ accepted: events, duplicates: 0, errors: [] });
    expect(await stored()).to.have.length(events);
  });

  it("splits what is too large for one document, and loses nothing of it", async () => {
    const text = "x".repeat(30_000);
    const one = (n: number) =>
      Array.from({ length: 60 }, (_, k) => ({ id: `large-${n}-${k}`, name: "a", properties: { text } }));
    const replies = await Promise.all([0, 1, 2].map((n) => publish(one(n))));
    expect(replies.map(({ body }) => body["accepted"])).to.deep.equal([60, 60, 60]);
    expect(await stored()).to.have.length(180);
    for (const row of await rows().find(batches).toArray())
      expect(JSON.stringify(row.events).length).to.be.below(1_200_000);
  });

  const refused: { it: string; events: unknown; field: string }[] = [
    { it: "no event", events: [], field: "events" },
    { it: "1,001 events", events: Array.from({ length: 1_001 }, () => ({ name: "a" })), field: "events" },
    { it: "an event without a name", events: [{}], field: "events[0].name" },
    { it: "an empty name", events: [{ name: "" }], field: "events[0].name" },
    { it: "a long name", events: [{ name: "n".repeat(101) }], field: "events[0].name" },
    { it: "a reserved name", events: [{ name: "hs.x" }], field: "events[0].name" },
    { it: "a reserved name after a space", events: [{ name: " hs.x" }], field: "events[0].name" },
    { it: "a name of spaces", events: [{ name: "  " }], field: "events[0].name" },
    { it: "a name with a line break", events: [{ name: "a\nb" }], field: "events[0].name" },
    { it: "a long id", events: [{ name: "a", id: "i".repeat(129) }], field: "events[0].id" },
    { it: "an unknown member", events: [{ name: "a", time: 1 }], field: "events[0].time" },
    { it: "a value that is no number", events: [{ name: "a", value: "1" }], field: "events[0].value" },
    { it: "a time that is none", events: [{ name: "a", occurred_at: "now" }], field: "events[0].occurred_at" },
    {
      it: "a leap second",
      events: [{ name: "a", occurred_at: "2016-12-31T23:59:60Z" }],
      field: "events[0].occurred_at",
    },
    { it: "properties that are a list", events: [{ name: "a", properties: [] }], field: "events[0].properties" },
    {
      it: "a property that begins with a dollar",
      events: [{ name: "a", properties: { $a: 1 } }],
      field: "events[0].properties.$a",
    },
    {
      it: "too many properties",
      events: [{ name: "a", properties: Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`p${n}`, 1])) }],
      field: "events[0].properties",
    },
    ...["time", "event_name"].map((name) => ({
      it: `the reserved property ${name}`,
      events: [{ name: "a", properties: { [name]: 1 } }],
      field: `events[0].properties.${name}`,
    })),
    {
      it: "properties that are too deep",
      events: [{ name: "a", properties: nested(6) }],
      field: "events[0].properties",
    },
    {
      it: "properties that are too large",
      events: [{ name: "a" }, { name: "b", properties: { text: "€".repeat(10_920) } }],
      field: "events[1]",
    },
    {
      it: "two users",
      events: [{ name: "a", user_id: "usr_1", external_id: "ann" }],
      field: "events[0].external_id",
    },
  ];
  for (const { it: what, events, field } of refused) {
    it(`refuses ${what} by name, and stores nothing`, async () => {
      const given =
        Array.isArray(events) && events.length === 1 ? [...(events as unknown[]), { name: "good" }] : events;
      const { status, body } = await publish(given);
      expect([status, body.error.details["field"]]).to.deep.equal([400, field]);
      expect(await stored()).to.deep.equal([]);
    });
  }

  it("answers 429 to an organisation of which more waits than its plan allows, until it is published", async () => {
    const plan = { _id: "few-waiting", waiting_event_bytes: 1 };
    const narrow = await seedTenant(site.db, { plan, key: { scopes: ["events:write"] } });
    const ask = () => publish([{ name: "a" }], { token: narrow.token, appId: narrow.app._id });
    expect((await ask()).status).to.equal(202);
    await until(async () => (await ask()).status === 429, 30_000);
    const { status, headers, body } = await ask();
    expect([status, headers.get("Retry-After")]).to.deep.equal([429, "5"]);
    expect(body.error.details).to.deep.include({ metric: "waiting_event_bytes", limit: 1, resets_at: null });
    expect((await publish([{ name: "a" }])).status, "another organisation").to.equal(202);
    const settings = await site.api.call("PATCH", `/v1/apps/${narrow.app._id}/events/definitions/a`, {
      token: narrow.token,
      body: { display_name: "A" },
    });
    expect(settings.status, "what also causes an event").to.equal(200);
    await rows().deleteMany({ tenant_id: narrow.tenant._id }); // as a dispatcher does once they are published
    await until(async () => (await ask()).status === 202, 30_000);
  });

  it("needs a key of the app's tenant with events:write", async () => {
    const admin = await seedTenant(site.db);
    const sender = await seedTenant(site.db, { key: { scopes: ["notifications:write", "analytics:read"] } });
    const statusFor = async ({ token }: { token: string }, appId: string) =>
      (await publish([{ name: "a" }], { token, appId })).status;
    expect(await statusFor(admin, admin.app._id)).to.equal(202);
    expect(await statusFor(sender, sender.app._id)).to.equal(403);
    expect(await statusFor(admin, tenant.app._id)).to.equal(404);
  });
});

describe("GET /v1/apps/{appId}/webhooks/event-types", () => {
  let site: Installation;

  before(async () => {
    site = await installation({ HERALD_LOG_LEVEL: "warn" });
  });
  after(() => site.close());

  it("lists every kind with a schema that its example fits", async () => {
    const { app, token } = await seedTenant(site.db);
    const { status, body } = await site.api.call("GET", `/v1/apps/${app._id}/webhooks/event-types`, { token });
    expect(status).to.equal(200);
    expect(body.data.map(({ type }) => type)).to.deep.equal([...eventKinds]);
    for (const { type, schema, example } of body.data) {
      expect((schema as { additionalProperties: boolean }).additionalProperties, String(type)).to.equal(false);
      expect(() => parser(schema as object)(example), String(type)).not.to.throw();
    }
  });

  it("is for administrators", async () => {
    const { app, token } = await seedTenant(site.db, { key: { scopes: ["events:write"] } });
    const { status } = await site.api.call("GET", `/v1/apps/${app._id}/webhooks/event-types`, { token });
    expect(status).to.equal(403);
  });
});
