import { expect } from "chai";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { type Reply, type ReplyBody } from "../../../support/api/api.ts";
import { useSite } from "../../../support/api/site.ts";
import { anApiKey, anApp, aPlan, seed, seedTenant } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";

const schema = { type: "object", properties: { status: { type: "string" } }, required: ["status"] };
const anything = { type: "object", properties: {} };

describe("live activity types", () => {
  const { site, tenant } = useSite();
  let nats: Nats;
  let base: string;
  let n = 0;
  const heard: string[] = [];

  before(async () => {
    base = typesOf(tenant.app._id);
    nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
    const callback = (_: Error | null, { subject }: { subject: string }): void => void heard.push(subject);
    nats.nc.subscribe(`${site.name}.config.live_activity_types.*`, { callback });
    await nats.nc.flush();
  });
  after(async () => {
    await nats.close();
  });

  const typesOf = (app: string) => `/v1/apps/${app}/live-activities/types`;
  const call = (method: string, path = "", body?: object, token = tenant.token) =>
    site.api.call(method, path.startsWith("/v1") ? path : base + path, { token, ...(body !== undefined && { body }) });
  const made = async (over: object = {}): Promise<ReplyBody> => {
    const wanted = { name: `Type${++n}`, content_state_schema: schema, ...over };
    const { status, body } = await call("POST", "", wanted);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const rows = () => site.db.collection<LiveActivityTypeRow>("live_activity_types");
  const announced = (id: string) => until(() => heard.includes(`${site.name}.config.live_activity_types.${id}`));
  const refusal = ({ status, body }: Reply) => ({ status, code: body.error.code, details: body.error.details });
  /** Has a resource stand for a type, as the operator would. */
  const manage = async (id: string, policy: "Enforce" | "CreateOnly") => {
    const managed = {
      kind: "LiveActivityType",
      namespace: "shop",
      name: "order",
      uid: "u-1",
      policy,
      deletion: "Delete",
      epoch: 1,
    } as const;
    await rows().updateOne({ _id: id }, { $set: { managed } });
  };

  it("makes a type with every default", async () => {
    const { id, created_at: createdAt, ...rest } = await made({ name: "OrderAttributes" });
    expect(id).to.match(/^lat_/);
    expect(rest).to.deep.equal({
      name: "OrderAttributes",
      description: null,
      content_state_schema: schema,
      attributes_schema: anything,
      platforms: ["ios"],
      frequent_updates: false,
      push_to_start_tokens: 0,
      updated_at: createdAt,
    });
    await announced(id);
    expect((await call("GET")).body.data.find((one) => one.id === id)).to.deep.equal({
      id,
      created_at: createdAt,
      ...rest,
    });
  });

  it("keeps every member and every keyword that it is given", async () => {
    const properties = {
      status: { type: "string", enum: ["open", "done"], minLength: 1, maxLength: 10, description: "how it goes" },
      eta: { type: "string", format: "date-time" },
      left: { type: "integer", minimum: 0, maximum: 9 },
      ratio: { type: "number", enum: [0.5, 1] },
      isLate: { type: "boolean" },
    };
    const wanted = {
      description: "a ride",
      content_state_schema: { type: "object", properties, required: ["eta", "left"] },
      attributes_schema: { type: "object", properties: { plate: { type: "string" } } },
      platforms: ["android", "ios"],
    };
    const { id, ...type } = await made(wanted);
    expect(type).to.deep.include(wanted);
    expect((await call("PATCH", `/${id}`, { platforms: ["android"] })).body["platforms"]).to.deep.equal(["android"]);
  });

  it("lists the app's types in the order of creation, without a cursor", async () => {
    const ids = [await made(), await made()].map(({ id }) => id);
    const { status, body } = await call("GET");
    expect([status, Object.keys(body)]).to.deep.equal([200, ["data"]]);
    expect(body.data.map(({ id }) => id).slice(-2)).to.deep.equal(ids);
  });

  it("warns of a name that no Swift struct can have", async () => {
    expect((await made({ name: "9 lives" }))["warnings"]).to.have.lengthOf(1);
    expect((await made({ name: "Größe_2" }))["warnings"]).to.equal(undefined);
    expect((await made({ name: "8 lives", platforms: ["android"] }))["warnings"]).to.equal(undefined);
  });

  it("changes only what is given, and takes a description away by null", async () => {
    const { id, ...before } = await made({ description: "a" });
    const changed = await call("PATCH", `/${id}`, { description: null, attributes_schema: schema });
    expect([changed.status, changed.body]).to.deep.equal([
      200,
      { ...before, id, description: null, attributes_schema: schema, updated_at: changed.body["updated_at"] },
    ]);
    expect(String(changed.body["updated_at"]) > String(before["updated_at"])).to.equal(true);
    await announced(id);
  });

  it("is found by its name, whatever characters it has, once no type has it as its id", async () => {
    for (const name of ["Ride", "Order / 1", "100%", "ünï?#", "a+b", "\u{1f6d2}"]) {
      const { id } = await made({ name });
      const path = `/${encodeURIComponent(name)}`;
      expect((await call("PATCH", path, { description: "x" })).body.id, name).to.equal(id);
      expect((await call("DELETE", path)).body, name).to.deep.equal({ ok: true });
      expect((await call("DELETE", path)).status, name).to.equal(404);
    }
    const first = await made();
    const second = await made({ name: first.id });
    expect((await call("PATCH", `/${first.id}`, {})).body.id).to.equal(first.id);
    await call("DELETE", `/${first.id}`);
    expect((await call("PATCH", `/${first.id}`, {})).body.id).to.equal(second.id);
  });

  it("removes a type, and tells the others", async () => {
    const { id } = await made();
    await announced(id);
    heard.length = 0;
    const { status, body } = await call("DELETE", `/${id}`);
    expect([status, body]).to.deep.equal([200, { ok: true }]);
    await announced(id);
    expect((await call("GET")).body.data.map((one) => one.id)).to.not.include(id);
  });

  it("loses no change of several at once", async () => {
    const { id } = await made();
    const changes = [{ description: "x" }, { content_state_schema: anything }, { attributes_schema: schema }];
    const replies = await Promise.all(changes.map((change) => call("PATCH", `/${id}`, change)));
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect((await call("GET")).body.data.find((one) => one.id === id)).to.deep.include(Object.assign({}, ...changes));
  });

  it("lets one name be taken once in an app, by several at once too", async () => {
    const name = "Taken";
    const wanted = { name, content_state_schema: schema };
    const replies = await Promise.all(Array.from({ length: 5 }, () => call("POST", "", wanted)));
    const [winner] = replies.filter(({ status }) => status === 201);
    const lost = replies.filter(({ status }) => status !== 201);
    expect(lost).to.have.lengthOf(4);
    const details = { field: "name", id: winner?.body.id };
    for (const reply of lost) expect(refusal(reply)).to.deep.equal({ status: 409, code: "HS_ALREADY_EXISTS", details });
    const other = anApp({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apps: [other] });
    expect((await call("POST", typesOf(other._id), wanted)).status).to.equal(201);
  });

  it("lets an app have a hundred, also when the last places are asked for at once", async () => {
    const app = anApp({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apps: [app] });
    const own = typesOf(app._id);
    const of = (i: number) => call("POST", own, { name: `T${i}`, content_state_schema: anything });
    for (let i = 0; i < 97; i += 10)
      await Promise.all(Array.from({ length: Math.min(10, 97 - i) }, (_, j) => of(i + j)));
    await Promise.all([of(97), of(98), of(99), of(100), of(101)]);
    const { data } = (await call("GET", own)).body;
    expect(data.length).to.be.within(97, 100);
    for (let i = data.length; i < 100; i++) expect((await of(200 + i)).status).to.equal(201);
    const details = { metric: "live_activity_types", limit: 100, used: 100, needed: 1, resets_at: null };
    expect(refusal(await of(999))).to.deep.equal({ status: 429, code: "HS_QUOTA_EXCEEDED", details });
    expect((await call("GET", own)).body.data).to.have.lengthOf(100);
  });

  it("lists what a resource enforces, and leaves it to the resource", async () => {
    const { id, name } = await made();
    await manage(id, "Enforce");
    expect((await call("GET")).body.data.map((one) => one.id)).to.include(id);
    const details = { kind: "LiveActivityType", namespace: "shop", name: "order" };
    for (const path of [`/${id}`, `/${String(name)}`]) {
      for (const reply of [await call("PATCH", path, { description: "x" }), await call("DELETE", path)]) {
        expect(refusal(reply)).to.deep.equal({ status: 409, code: "HS_MANAGED", details });
      }
    }
    await manage(id, "CreateOnly");
    expect((await call("PATCH", `/${id}`, { description: "x" })).body["description"]).to.equal("x");
    expect((await call("DELETE", `/${id}`)).status).to.equal(200);
  });

  it("makes and changes nothing that the plan does not include, and lists and removes what is there", async () => {
    const features = aPlan().features.filter((feature) => feature !== "live_activities");
    const low = await seedTenant(site.db, { plan: { _id: "low", api_rps: 5, features } });
    const own = typesOf(low.app._id);
    const row = { ...(await rows().findOne())!, _id: "lat_low", tenant_id: low.tenant._id, app_id: low.app._id };
    await rows().insertOne({ ...row, managed: null });
    const details = { feature: "live_activities", plan: tenant.plan._id };
    const wanted = { name: "A", content_state_schema: schema };
    const refused = [await call("POST", own, wanted, low.token), await call("PATCH", `${own}/lat_low`, {}, low.token)];
    for (const reply of refused) {
      expect(refusal(reply)).to.deep.equal({ status: 403, code: "HS_PLAN_FEATURE_REQUIRED", details });
    }
    expect((await call("GET", own, undefined, low.token)).body.data).to.have.lengthOf(1);
    expect((await call("DELETE", `${own}/lat_low`, undefined, low.token)).status).to.equal(200);
  });

  it("needs the scope admin, and a type of the app that the path names", async () => {
    const { id } = await made();
    const other = await seedTenant(site.db);
    const weak = anApiKey({ tenant_id: tenant.tenant._id, scopes: ["notifications:write", "analytics:read"] });
    await seed(site.db, { apiKeys: [weak.row] });
    const attempts = [
      ["GET", ""],
      ["POST", ""],
      ["PATCH", `/${id}`],
      ["DELETE", `/${id}`],
    ] as const;
    for (const [method, path] of attempts) {
      const body = method === "POST" || method === "PATCH" ? {} : undefined;
      expect((await call(method, path, body, weak.token)).status, method).to.equal(403);
      expect((await call(method, path, body, other.token)).status, method).to.equal(404);
      const elsewhere = typesOf(other.app._id) + path;
      if (path !== "") expect((await call(method, elsewhere, body, other.token)).status, method).to.equal(404);
    }
    expect(await rows().countDocuments({ _id: id })).to.equal(1);
  });

  it("tells of each change as an event", async () => {
    type Audited = { subject_id: string; data: Record<string, unknown> };
    const heardOf: Audited[] = []; // also late ones of other types
    const callback = (_: Error | null, message: { json: () => unknown }) =>
      void heardOf.push(...(message.json() as Audited[]));
    const subscription = nats.nc.subscribe(`${site.name}.app-events.*.*.*`, { callback });
    await nats.nc.flush();
    const { id } = await made();
    const ours = () => heardOf.filter(({ subject_id: subject }) => subject === id);
    await call("PATCH", `/${id}`, { description: "b" });
    await call("DELETE", `/${id}`);
    await until(() => ours().length >= 3);
    subscription.unsubscribe();
    const audited = ours();
    const actions = ["created", "updated", "deleted"].map((verb) => `live_activity_type.${verb}`);
    expect(audited.map(({ data }) => data["action"])).to.have.members(actions);
    expect(audited.find(({ data }) => data["action"] === actions[1])?.data).to.deep.include({
      actor: { type: "api_key", id: tenant.key._id },
      target: { type: "live_activity_type", id },
      changes: { description: { before: null, after: "b" } },
    });
  });
});
