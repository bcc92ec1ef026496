import { randomBytes } from "node:crypto";
import { expect } from "chai";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anApiKey, aSubscription, aUser, seed, seedTenant } from "../../../support/rows/fixtures.ts";

describe("the sends of live activities", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, path.startsWith("/v1") ? path : `/v1/apps/${tenant.app._id}/live-activities${path}`, {
      token: tenant.token,
      ...(body !== undefined && { body }),
    });
  const properties = { step: { type: "integer" }, note: { type: "string" } };

  it("go on when an end is cancelled that nobody has begun", async () => {
    await call("POST", "/types", { name: "Order", content_state_schema: { type: "object", properties } });
    const activity = { activity_id: "o-1", content_state: { step: 1 } };
    expect((await call("POST", "/Order/start", { ...activity, target: { all: true } })).status).to.equal(202);
    const end = await call("POST", "/Order/end", { activity_id: "o-1" });
    const refused = await call("POST", "/Order/update", activity);
    expect([refused.status, refused.body.error.details]).to.deep.equal([409, { status: "ended" }]);
    expect((await call("DELETE", `/v1/notifications/${String(end.body["message_id"])}`)).body.status).to.equal(
      "cancelled",
    );
    expect((await call("POST", "/Order/update", activity)).status).to.equal(202);
    const shown = await call("GET", "/Order/activities/o-1");
    expect(shown.body).to.deep.include({ status: "running", content_state: { step: 1 } });
  });

  it("find no activity of another type", async () => {
    await call("POST", "/types", { name: "Ride", content_state_schema: { type: "object", properties } });
    const { status, body } = await call("POST", "/Ride/update", { activity_id: "o-1", content_state: { step: 1 } });
    expect([status, body.error.code]).to.deep.equal([409, "HS_CONFLICT"]);
    expect((await call("GET", "/Ride/activities/o-1")).status).to.equal(404);
  });

  it("refuse what Apple would not take, and say how many bytes it has", async () => {
    const content_state = { step: 1, note: "é".repeat(2_100) };
    const { status, body } = await call("POST", "/Order/update", { activity_id: "o-1", content_state });
    const { field, limit_bytes: limit, actual_bytes: actual } = body.error.details;
    expect([status, field, limit]).to.deep.equal([400, "content_state", 4096]);
    expect(actual).to.be.within(4_250, 4_400);
  });

  const start = { content_state: { step: 1 }, target: { all: true } };
  const cases: [string, object, string][] = [
    ["a state of another type", { ...start, content_state: { step: "1" } }, "content_state.step"],
    ["a state that is not known", { ...start, content_state: { step: 1, other: 2 } }, "content_state.other"],
    ["our own attribute", { ...start, attributes: { herald_activity_id: "x" } }, "attributes.herald_activity_id"],
    ["an unknown segment", { ...start, target: { included_segments: ["vip"] } }, "target.included_segments[0]"],
    ["a target without a selector", { ...start, target: { all: false } }, "target"],
    ["another priority", { ...start, priority: 7 }, "priority"],
    ["a date behind 2100", { ...start, stale_date: 4_102_444_801 }, "stale_date"],
    ["a date behind 2100 as a text", { ...start, stale_date: "2100-01-01T00:00:01Z" }, "stale_date"],
    ["a date before 1970", { ...start, dismissal_date: "1969-12-31T23:59:59Z" }, "dismissal_date"],
    ["a text that is no date", { ...start, dismissal_date: "tomorrow" }, "dismissal_date"],
    ["a day that the calendar does not have", { ...start, stale_date: "2026-02-30T12:00:00Z" }, "stale_date"],
  ];
  for (const [name, body, field] of cases) {
    it(`refuse ${name}`, async () => {
      const reply = await call("POST", "/Order/start", body);
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, field]);
    });
  }

  it("start with the app's name where no words are given, for a device without the activity", async () => {
    const contentOf = async (body: object, type = "Order") => {
      const { body: sent } = await call("POST", `/${type}/start`, { ...start, ...body });
      const { body: message } = await call("GET", `/v1/notifications/${String(sent["message_id"])}`);
      return (message["content"] as { alert?: object }).alert;
    };
    const named = { title: { en: tenant.app.name } };
    expect(await contentOf({})).to.deep.equal(named);
    expect(await contentOf({ alert: { title: { en: "\u200b " }, sound: "bell.caf" } })).to.deep.equal({
      ...named,
      sound: "bell.caf",
    });
    expect(await contentOf({ alert: { body: { de: "Gepackt" } } })).to.deep.equal({ body: { de: "Gepackt" } });
    const onAndroid = { name: "Kite", platforms: ["android"], content_state_schema: { type: "object", properties } };
    await call("POST", "/types", onAndroid);
    expect(await contentOf({}, "Kite")).to.equal(undefined);
  });

  it("start on those devices of a segment that have a token for the type", async () => {
    const ids = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const [gold, plain] = [aUser({ ...ids, tags: { tier: "gold" } }), aUser(ids)];
    const devices = [gold, gold, plain].map(({ _id }) => aSubscription({ ...ids, user_id: _id }));
    await seed(site.db, { users: [gold, plain], subscriptions: devices });
    const filter = { all: [{ field: "tags.tier", op: "eq", value: "gold" }] };
    const named = await call("POST", `/v1/apps/${tenant.app._id}/segments`, { name: "Gold devices", filter });
    expect(named.status, named.text).to.equal(201);
    for (const { _id } of [devices[0], devices[2]].flatMap((device) => device ?? [])) {
      const path = `/v1/apps/${tenant.app._id}/subscriptions/${_id}/live-activity-tokens`;
      const reply = await call("PUT", path, {
        kind: "start",
        activity_type: "Order",
        token: randomBytes(40).toString("hex"),
      });
      expect(reply.status, reply.text).to.equal(200);
    }
    const target = { included_segments: ["Gold devices"] };
    const begun = await call("POST", "/Order/start", { activity_id: "o-gold", content_state: { step: 1 }, target });
    expect([begun.status, begun.body["recipients_estimate"]], begun.text).to.deep.equal([202, 1]);
    const stored = await site.db.collection<MessageRow>("messages").findOne({ _id: String(begun.body["message_id"]) });
    expect(stored?.aim?.included).to.deep.equal([named.body["id"]]);
  });

  it("take instants in seconds and as ISO 8601", async () => {
    const sent = { activity_id: "o-2", content_state: { step: 1 }, target: { all: true } };
    const dates = { stale_date: 1_795_350_000, dismissal_date: "2026-11-23T09:20:00.900+01:00" };
    expect((await call("POST", "/Order/start", { ...sent, ...dates })).status).to.equal(202);
    const stored = await site.db.collection("messages").findOne({ "live_activity.activity_id": "o-2" });
    expect(stored?.["live_activity"]).to.include({ stale_date: 1_795_350_000, dismissal_date: 1_795_422_000 });
  });

  it("need the scope of sending, and tokens that of administration", async () => {
    const { row, token } = anApiKey({ tenant_id: tenant.tenant._id, scopes: ["notifications:write"] });
    await seed(site.db, { apiKeys: [row] });
    const base = `/v1/apps/${tenant.app._id}`;
    const sent = await site.api.call("POST", `${base}/live-activities/Order/start`, { token, body: start });
    expect(sent.status).to.equal(202);
    const { body: user } = await call("POST", `${base}/users`, {
      external_id: "ann",
      subscriptions: [
        { channel: "ios_push", token: "ab".repeat(32) },
        { channel: "email", token: "ann@example.com" },
      ],
    });
    const [device, mail] = user.subscriptions.map(({ id }) => `${base}/subscriptions/${id}/live-activity-tokens`);
    const body = { kind: "start", activity_type: "Order", token: "cd".repeat(32) };
    expect((await site.api.call("PUT", device ?? "", { token, body })).status).to.equal(403);
    expect((await call("PUT", device ?? "", body)).status).to.equal(200);
    expect((await call("PUT", mail ?? "", body)).body.error.details).to.include({ field: "kind" });
    for (const wrong of [
      { ...body, activity_type: undefined },
      { ...body, activity_id: "x" },
      { ...body, token: "xyz" },
    ])
      expect((await call("PUT", device ?? "", wrong)).status).to.equal(400);
    expect((await call("PUT", device ?? "", { ...body, activity_type: "Nobody's" })).status).to.equal(404);
  });

  it("need the plan's feature to start something, and to have a channel made", async () => {
    const bare = await seedTenant(site.db, { plan: { _id: "bare", features: [] } });
    const base = `/v1/apps/${bare.app._id}/live-activities`;
    const type = { _id: "lat_bare", tenant_id: bare.tenant._id, app_id: bare.app._id, name: "Order" };
    const schemas = {
      content_state_schema: { type: "object", properties },
      attributes_schema: { type: "object", properties: {} },
    };
    await site.db.collection<{ _id: string }>("live_activity_types").insertOne({ ...type, ...schemas });
    for (const path of ["/Order/start", "/types/Order/channels"]) {
      const { status, body } = await site.api.call("POST", base + path, { token: bare.token, body: start });
      expect([status, body.error.code]).to.deep.equal([403, "HS_PLAN_FEATURE_REQUIRED"]);
    }
  });
});
