import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { Reply } from "../../../support/api/api.ts";
import { tenAMinute, untilLimited } from "../../../support/api/limited.ts";
import { useSite } from "../../../support/api/site.ts";
import { anExport } from "../../../support/rows/exports.ts";
import { anApiKey, seed, seedTenant } from "../../../support/rows/fixtures.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { until } from "../../../support/until.ts";

// Without a dispatcher: what is asked for waits.
describe("the operations on exports", () => {
  const { site, tenant } = useSite();

  type Tenant = Pick<typeof tenant, "app" | "token">;
  const create = (body: object, { app, token }: Tenant = tenant, api = site.api): Promise<Reply> =>
    api.call("POST", `/v1/apps/${app._id}/exports`, { token, body });
  const get = (path: string, token = tenant.token): Promise<Reply> =>
    site.api.call("GET", `/v1/apps/${tenant.app._id}/exports${path}`, { token });
  const insert = async (over: Partial<ExportRow> = {}): Promise<ExportRow> => {
    const row = anExport({ tenant_id: tenant.tenant._id, app_id: tenant.app._id, ...over });
    await site.db.collection<ExportRow>("exports").insertOne(row);
    return row;
  };

  it("make one that waits, and show it", async () => {
    const filters = { channel: "email", status: "subscribed" };
    const made = await create({ type: "subscriptions", filters, compression: "gzip" });
    expect(made.status).to.equal(200);
    expect(made.body).to.deep.include({ type: "subscriptions", status: "pending", filters, compression: "gzip" });
    expect(made.body).to.include({ row_count: null, progress: null, download_url: null, completed_at: null });
    expect(made.body["requested_by"]).to.equal(tenant.key._id);
    expect((await get(`/${made.body.id}`)).body).to.deep.equal(made.body);
  });

  const refused: { it: string; body: object; field: string }[] = [
    {
      it: "a filter of another type",
      body: { type: "users", filters: { channel: "email" } },
      field: "filters.channel",
    },
    {
      it: "an event's name of deliveries",
      body: { type: "deliveries", filters: { name: "x" } },
      field: "filters.name",
    },
    {
      it: "a status of another type",
      body: { type: "deliveries", filters: { status: "subscribed" } },
      field: "filters.status",
    },
    {
      it: "an empty time",
      body: { type: "deliveries", filters: { from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z" } },
      field: "filters.to",
    },
    {
      it: "an unknown segment",
      body: { type: "users", filters: { segment_id: "seg_1" } },
      field: "filters.segment_id",
    },
    { it: "an unknown type", body: { type: "people" }, field: "type" },
    { it: "an unknown filter", body: { type: "users", filters: { tag: "x" } }, field: "filters.tag" },
  ];
  for (const { it: name, body, field } of refused)
    it(`refuse ${name}`, async () => {
      const { status, body: reply } = await create(body);
      expect([status, reply.error.code, reply.error.details["field"]]).to.deep.equal([
        400,
        "HS_VALIDATION_ERROR",
        field,
      ]);
    });

  it("take an empty text for no filter", async () => {
    expect((await create({ type: "deliveries", filters: { message_id: "" } })).body["filters"]).to.deep.equal({});
  });

  it("need the scope admin, but for those of one notification", async () => {
    const { row, token } = anApiKey({
      tenant_id: tenant.tenant._id,
      scopes: ["analytics:read"] as ApiKeyRow["scopes"],
    });
    await seed(site.db, { apiKeys: [row] });
    expect((await create({ type: "users" }, { app: tenant.app, token })).body.error.code).to.equal("HS_FORBIDDEN");
    const body = { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" } };
    const { id } = (await site.api.call("POST", "/v1/notifications", { token: tenant.token, body })).body;
    const history = await site.api.call("GET", `/v1/notifications/${id}/history`, { token });
    expect([history.status, history.body["type"], history.body["destination_url"]]).to.deep.equal([
      200,
      "deliveries",
      null,
    ]);
    const unknown = await site.api.call("POST", `/v1/notifications/${id}/export_events`, {
      token,
      body: { events: ["read"] },
    });
    expect([unknown.status, unknown.body.error.details["field"]]).to.deep.equal([400, "events[0]"]);
  });

  it("mail a history's link to addresses alone that the app lists", async () => {
    const of = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const message = aMessage({ ...of, _id: newId("message", new Date()), status: "completed", due_at: null });
    await site.db.collection<MessageRow>("messages").insertOne(message);
    const email = "anna@shop.example";
    const ask = (body: object) =>
      site.api.call("POST", `/v1/notifications/${message._id}/history`, { token: tenant.token, body });
    const refused = await ask({ email });
    expect([refused.status, refused.body.error.details["field"]]).to.deep.equal([400, "email"]);
    const made = () => site.db.collection<ExportRow>("exports").find({ subject: `history/${message._id}/sent` });
    expect(await made().toArray(), "it made nothing").to.deep.equal([]);
    const settings = { token: tenant.token, body: { export_emails: [email] } };
    expect((await site.api.call("PATCH", `/v1/apps/${tenant.app._id}/settings`, settings)).status).to.equal(200);
    let id: string | undefined;
    await until(async () => {
      const { status, body } = await ask({ email }); // apps are known for a moment
      id = body.id;
      return status === 200;
    });
    expect((await ask({ email })).body.id, "it is being made").to.equal(id);
    expect((await ask({})).body.id).to.equal(id);
    expect((await made().toArray()).map(({ mail_to: to }) => to)).to.deep.equal([email]);
  });

  it("need the plan's feature", async () => {
    const features = ["webhooks"] as PlanRow["features"];
    const poor = await seedTenant(site.db, { plan: { _id: "poor", features }, tenant: { plan: "poor" } });
    const { status, body } = await create({ type: "users" }, poor);
    expect([status, body.error.code, body.error.details["feature"]]).to.deep.equal([
      403,
      "HS_PLAN_FEATURE_REQUIRED",
      "exports",
    ]);
  });

  it("list an app's, the newest first, page by page", async () => {
    const rows = [await insert(), await insert(), await insert()];
    const first = await get("?limit=2");
    expect(first.body.data.map(({ id }) => id)).to.deep.equal([rows[2]?._id, rows[1]?._id]);
    const second = await get(`?limit=1&cursor=${first.body.next_cursor}`);
    expect(second.status, "another limit is the same list").to.equal(200);
    expect(second.body.data[0]?.id).to.equal(rows[0]?._id);
    expect((await get("?limit=101")).status).to.equal(400);
  });

  it("sign an address while the file can be downloaded, and none after that", async () => {
    const now = Date.now();
    const file = { key: `exports/${tenant.app._id}/exp_1-1.csv`, size_bytes: 10 };
    const done = { status: "completed", file, row_count: 1, due_at: null } as const;
    const lasting = await insert({ ...done, expires_at: new Date(now + 60_000) });
    const over = await insert({ ...done, expires_at: new Date(now - 1) });
    const shown = await get(`/${lasting._id}`);
    const address = new URL(String(shown.body["download_url"]));
    expect(address.pathname).to.include(file.key);
    expect(Number(address.searchParams.get("X-Amz-Expires"))).to.be.within(1, 60);
    expect((await get(`/${over._id}`)).body["download_url"]).to.equal(null);
  });

  it("cancel what has not ended, and only that", async () => {
    const cancel = (id: string) =>
      site.api.call("POST", `/v1/apps/${tenant.app._id}/exports/${id}/cancel`, { token: tenant.token });
    const { _id: waiting } = await insert();
    for (const reply of [await cancel(waiting), await cancel(waiting)]) {
      expect(reply.body).to.include({ id: waiting, status: "failed" });
      expect(reply.body["error"]).to.match(/^HS_CANCELLED: /);
    }
    const { _id: ended } = await insert({ status: "completed" });
    const { status, body } = await cancel(ended);
    expect([status, body.error.code, body.error.details]).to.deep.equal([409, "HS_CONFLICT", { status: "completed" }]);
  });

  it("let 20 of an app wait, however many are asked for at once, and no more", async () => {
    const other = await seedTenant(site.db);
    const of = { tenant_id: other.tenant._id, app_id: other.app._id };
    const rows = Array.from({ length: 15 }, (_, place) => anExport({ ...of, place }));
    await site.db.collection<ExportRow>("exports").insertMany(rows);
    const replicas = [site.api, await site.start()];
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => create({ type: "users" }, other, replicas[n % 2])),
    );
    const waiting = await site.db.collection("exports").countDocuments({ app_id: other.app._id, status: "pending" });
    expect([waiting, replies.filter(({ status }) => status === 200).length]).to.deep.equal([20, 5]);
    const full = replies.find(({ status }) => status === 429);
    expect(full?.body.error).to.deep.include({ code: "HS_QUOTA_EXCEEDED" });
    expect(full?.body.error.details).to.include({ metric: "exports_pending", limit: 20 });
  });

  it("take the first of two that come at once where there is room for one", async () => {
    const other = await seedTenant(site.db);
    const of = { tenant_id: other.tenant._id, app_id: other.app._id };
    const rows = Array.from({ length: 19 }, (_, place) => anExport({ ...of, place: place + 1 }));
    await site.db.collection<ExportRow>("exports").insertMany(rows);
    const replies = await Promise.all([create({ type: "users" }, other), create({ type: "users" }, other)]);
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([200, 429]);
  });

  it("have room again when one of those that waited is cancelled", async () => {
    const other = await seedTenant(site.db);
    const of = { tenant_id: other.tenant._id, app_id: other.app._id };
    const rows = Array.from({ length: 20 }, (_, place) => anExport({ ...of, place }));
    await site.db.collection<ExportRow>("exports").insertMany(rows);
    expect((await create({ type: "users" }, other)).status).to.equal(429);
    const path = `/v1/apps/${other.app._id}/exports/${rows[7]?._id}/cancel`;
    expect((await site.api.call("POST", path, { token: other.token })).status).to.equal(200);
    expect((await create({ type: "users" }, other)).status).to.equal(200);
    expect((await create({ type: "users" }, other)).status).to.equal(429);
  });

  it("take ten a minute of an app", async () => {
    const other = await seedTenant(site.db);
    const replies = await untilLimited(() => create({ type: "users" }, other), tenAMinute);
    expect(new Set(replies.slice(0, -1).map(({ status }) => status))).to.deep.equal(new Set([200]));
  });

  it("are refused by an installation without a store of files", async () => {
    const api = await site.start({
      HERALD_S3_BUCKET: "",
      HERALD_S3_ENDPOINT: "",
      HERALD_S3_ACCESS_KEY_ID: "",
      HERALD_S3_SECRET_ACCESS_KEY: "",
    });
    const { token } = tenant;
    const reply = await api.call("POST", `/v1/apps/${tenant.app._id}/exports`, { token, body: { type: "users" } });
    expect([reply.status, reply.body.error.code]).to.deep.equal([503, "HS_UNAVAILABLE"]);
  });
});
