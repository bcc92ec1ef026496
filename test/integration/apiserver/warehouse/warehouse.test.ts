import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type WarehouseExportRow, warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { type WarehouseRunRow, warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";

const secret = "wJalrXUtnFEMI/K7MDENG/EXAMPLEKEY";
const destination = {
  type: "s3",
  bucket: "acme-lake",
  prefix: "herald",
  access_key_id: "AKIAEXAMPLE",
  secret_access_key: secret,
};
const azure = { type: "azure_blob", account: "acme", container: "lake", account_key: "a-key-of-azure" };
const bigquery = { type: "bigquery", project_id: "acme-data", dataset: "messaging" };
const snowflake = { type: "snowflake", database: "DATA", schema: "MESSAGING", stage: "HERALD", staging: destination };
const aWarehouse = { name: "Lake", destination, datasets: ["deliveries"], test: false };

describe("warehouse exports by REST", () => {
  const { site, tenant } = useSharedSite();
  const list = () => `/v1/apps/${tenant.app._id}/warehouse-exports`;
  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, list() + path, { token: tenant.token, ...(body && { body }) });
  const exports = () => collectionOf<WarehouseExportRow>(site.db, warehouseExportCollection);
  const runs = () => collectionOf<WarehouseRunRow>(site.db, warehouseRunCollection);
  let n = 0;
  const make = async (over: object = {}) =>
    (await call("POST", "", { ...aWarehouse, name: `Lake ${n++}`, ...over })).body;

  const markOf = ({ watermarks }: Record<string, unknown>) =>
    new Date((watermarks as { deliveries: string }).deliveries);

  afterEach(async () => {
    await exports().deleteMany({ app_id: tenant.app._id });
    await runs().deleteMany({ app_id: tenant.app._id });
  });

  it("are made, shown, listed, changed and removed, and never show a secret", async () => {
    const made = await make();
    expect(made).to.deep.include({
      status: "active",
      format: "jsonl",
      failure_count: 0,
      last_run: null,
      managed: false,
    });
    expect(made.schedule).to.deep.equal({ frequency: "24h", start_at: "00:00", timezone: "UTC", exclude_window: null });
    expect(made.destination).to.deep.include({ region: "us-east-1", path_style: false, endpoint: null });
    expect(made.watermarks).to.deep.equal({ deliveries: made.created_at });
    const before = await exports().findOne({ _id: made.id });
    const parquet = await call("PATCH", `/${made.id}`, { format: "parquet", compression: "zstd" });
    expect(parquet.body).to.include({ format: "parquet", compression: "zstd" });
    const { body: csv } = await call("PATCH", `/${made.id}`, { format: "csv" });
    expect(csv).to.include({ format: "csv", compression: "gzip" });
    const other = await make({ datasets: ["events"], event_names: ["order.paid"], include_pii: true });
    expect(other).to.deep.include({ hash_key: made.hash_key, event_names: ["order.paid"], include_pii: true });
    expect(made.hash_key).to.match(/^[0-9a-f]{64}$/);
    const others = await call("PATCH", `/${other.id}`, { datasets: ["users"] });
    expect(others.body).to.include({ event_names: null }).and.not.to.have.property("hash_key");
    await call("DELETE", `/${other.id}`);
    const changed = await call("PATCH", `/${made.id}`, {
      schedule: { frequency: "1h" },
      destination: { type: "s3", bucket: "other" },
      test: false,
    });
    expect(changed.body).to.have.nested.property("schedule.frequency", "1h");
    const after = await exports().findOne({ _id: made.id });
    expect(after?.secrets, "a secret that is left out stays").to.deep.equal(before?.secrets);
    const shown = [made, changed.body, (await call("GET", `/${made.id}`)).body, (await call("GET", "")).body];
    expect(shown[3]?.data.map(({ id }: { id: string }) => id)).to.deep.equal([made.id]);
    expect(JSON.stringify(shown)).not.to.include(secret).and.not.to.include("AKIAEXAMPLE");
    expect((await call("DELETE", `/${made.id}`)).body).to.deep.equal({ ok: true });
    expect((await call("GET", `/${made.id}`)).status).to.equal(404);
  });

  const refused: { it: string; over: object; field: string }[] = [
    {
      it: "a type that is not there",
      over: { destination: { ...destination, type: "ftp" } },
      field: "destination.type",
    },
    {
      it: "a destination without a secret",
      over: { destination: { type: "s3", bucket: "acme-lake", access_key_id: "A" } },
      field: "destination.secret_access_key",
    },
    {
      it: "a bucket of Google without its credentials",
      over: { destination: { type: "gcs", bucket: "acme-lake" } },
      field: "destination.credentials_json",
    },
    {
      it: "credentials that are none of a service account",
      over: { destination: { type: "gcs", bucket: "acme-lake", credentials_json: "{}" } },
      field: "destination.credentials_json",
    },
    {
      it: "a member of another type",
      over: { destination: { ...azure, region: "eu-central-1" } },
      field: "destination.region",
    },
    {
      it: "a secret of another type",
      over: { destination: { ...azure, access_key_id: "A" } },
      field: "destination.access_key_id",
    },
    {
      it: "a container without its account",
      over: { destination: { type: "azure_blob", container: "lake", account_key: "k" } },
      field: "destination.account",
    },
    {
      it: "both secrets of which one is enough",
      over: { destination: { ...azure, sas_token: "sv=1&sig=2" } },
      field: "destination.account_key",
    },
    {
      it: "a private address",
      over: { destination: { ...destination, endpoint: "https://10.0.0.8" } },
      field: "destination.endpoint",
    },
    {
      it: "an address with a path",
      over: { destination: { ...destination, endpoint: "https://s3.example.com/x" } },
      field: "destination.endpoint",
    },
    {
      it: "a key of KMS without KMS",
      over: { destination: { ...destination, kms_key_id: "k" } },
      field: "destination.kms_key_id",
    },
    {
      it: "a warehouse without a store",
      over: { destination: { type: "redshift", database: "dev", schema: "messaging" } },
      field: "destination.staging",
    },
    {
      it: "a store that its warehouse does not read from",
      over: { destination: { ...bigquery, staging: destination } },
      field: "destination.staging.type",
    },
    {
      it: "a warehouse's store without its secret",
      over: { destination: { ...bigquery, staging: { type: "gcs", bucket: "acme-lake" } } },
      field: "destination.staging.credentials_json",
    },
    {
      it: "a secret beside the store of a warehouse",
      over: { destination: { ...snowflake, access_key_id: "A" } },
      field: "destination.access_key_id",
    },
    {
      it: "a name that is no name in SQL",
      over: { destination: { ...snowflake, schema: "a; drop table b" } },
      field: "destination.schema",
    },
    { it: "files that a warehouse does not read", over: { destination: snowflake, format: "csv" }, field: "format" },
    { it: "a format that is not there", over: { format: "avro" }, field: "format" },
    { it: "a compression of what is gzip", over: { format: "csv", compression: "zstd" }, field: "compression" },
    { it: "a dataset that is not there", over: { datasets: ["campaigns"] }, field: "datasets[0]" },
    { it: "names of events that are not exported", over: { event_names: ["order.paid"] }, field: "event_names" },
    {
      it: "a column that is not there",
      over: { excluded_columns: ["deliveries.token"] },
      field: "excluded_columns[0]",
    },
    { it: "to leave out the id", over: { excluded_columns: ["deliveries.id"] }, field: "excluded_columns[0]" },
    {
      it: "a zone that is none",
      over: { schedule: { frequency: "1h", timezone: "Mars/Base" } },
      field: "schedule.timezone",
    },
    {
      it: "a schedule without a run",
      over: { schedule: { frequency: "24h", exclude_window: { start: "23:00", end: "01:00" } } },
      field: "schedule.exclude_window",
    },
    { it: "a begin that is to come", over: { start_from: "2999-01-01T00:00:00.000Z" }, field: "start_from" },
    { it: "a begin before what is kept", over: { start_from: "2001-01-01T00:00:00.000Z" }, field: "start_from" },
  ];
  for (const { it: name, over, field } of refused)
    it(`are refused with ${name}`, async () => {
      const { status, body } = await call("POST", "", { ...aWarehouse, ...over });
      expect([status, body.error?.details?.field], JSON.stringify(body)).to.deep.equal([400, field]);
      expect(await exports().countDocuments({ app_id: tenant.app._id })).to.equal(0);
    });

  it("of Azure show their own members, take another secret in the place of the first, and keep their type", async () => {
    const made = await make({ destination: azure });
    const shown = (body: Record<string, unknown>) => body["destination"] as { secret_names: string[] };
    expect(shown(made)).to.deep.include({
      type: "azure_blob",
      account: "acme",
      container: "lake",
      prefix: "",
      endpoint: null,
      secret_names: ["account_key"],
    });
    expect(shown(made)).not.to.have.any.keys("bucket", "region", "sse");
    const change = (over: object) => call("PATCH", `/${made.id}`, { destination: over, test: false });
    const { account_key: _key, ...place } = azure;
    const signed = await change({ ...place, sas_token: "sv=1&sig=2" });
    expect(shown(signed.body).secret_names).to.deep.equal(["sas_token"]);
    expect(shown((await change({ ...place, prefix: "herald" })).body).secret_names).to.deep.equal(["sas_token"]);
    const moved = await change(destination);
    expect([moved.status, moved.body.error.details.field]).to.deep.equal([400, "destination.type"]);
  });

  it("of a warehouse write Parquet to its store, and show the statements that load it", async () => {
    const made = await make({ destination: snowflake, excluded_columns: ["deliveries.channel"] });
    expect(made).to.deep.include({ format: "parquet" });
    const { staging, ...shown } = made.destination as Record<string, unknown>;
    expect(shown).to.deep.include({ type: "snowflake", database: "DATA", schema: "MESSAGING", stage: "HERALD" });
    expect(staging).to.deep.include({ type: "s3", bucket: "acme-lake", prefix: "herald" });
    const sql = String(made.setup_sql);
    expect(sql)
      .to.include("URL = 's3://acme-lake/herald/v1/'")
      .and.include("CREATE OR REPLACE VIEW DATA.MESSAGING.deliveries");
    expect(sql)
      .to.match(/ {2}error_code VARCHAR,/)
      .and.not.match(/ {2}channel VARCHAR/);
    const row = await exports().findOne({ _id: made.id });
    expect(row?.destination).to.deep.include({ type: "s3", bucket: "acme-lake" });
    const change = (body: object) => call("PATCH", `/${made.id}`, { test: false, ...body });
    const { access_key_id: _a, secret_access_key: _s, ...store } = destination;
    const moved = await change({ destination: { ...snowflake, schema: "OTHER", staging: { ...store, prefix: "" } } });
    expect(moved.body.setup_sql).to.include("URL = 's3://acme-lake/v1/'").and.include("DATA.OTHER.deliveries");
    expect((await change({ format: "jsonl" })).body.error.details.field).to.equal("format");
    const alone = await change({ destination });
    expect([alone.status, alone.body.error.details.field]).to.deep.equal([400, "destination.type"]);
    expect((await make()).setup_sql).to.equal(null);
  });

  it("have names of their own, and are ten at most", async () => {
    const made = await make({ name: "Same" });
    const again = await call("POST", "", { ...aWarehouse, name: "Same" });
    expect([again.status, again.body.error.details.id]).to.deep.equal([409, made.id]);
    for (let i = 0; i < 9; i++) await make();
    const { body } = await call("POST", "", { ...aWarehouse, name: "One more" });
    expect([body.error.code, body.error.details.limit]).to.deep.equal(["HS_QUOTA_EXCEEDED", 10]);
  });

  it("are paused with a reason, and resumed from where they were or from now", async () => {
    const { id, watermarks } = await make();
    expect((await call("POST", `/${id}/pause`, { reason: "moving" })).body).to.include({
      status: "paused",
      pause_reason: "moving",
      next_run_at: null,
    });
    expect((await call("POST", `/${id}/pause`, { reason: "again" })).body.pause_reason).to.equal("moving");
    const resumed = (await call("POST", `/${id}/resume`, {})).body;
    expect(resumed).to.deep.include({ status: "active", pause_reason: null, watermarks });
    await call("POST", `/${id}/pause`, {});
    const skipped = (await call("POST", `/${id}/resume`, { catch_up: false })).body;
    expect(markOf(skipped)).to.be.above(markOf({ watermarks }));
  });

  it("have one run at a time: of what changed, or of a range", async () => {
    const start_from = new Date(Date.now() - 3_600_000).toISOString();
    const { id } = await make({ start_from });
    const begun = await call("POST", `/${id}/backfill`, {});
    expect([begun.status, begun.body.trigger, begun.body.window_start]).to.deep.equal([202, "manual", start_from]);
    const second = await call("POST", `/${id}/backfill`, {});
    expect([second.status, second.body.error]).to.deep.include(409);
    expect(second.body.error).to.deep.include({ code: "HS_JOB_IN_PROGRESS", details: { run_id: begun.body.id } });
    await runs().updateOne({ _id: begun.body.id }, { $set: { status: "completed" }, $unset: { open: "" } });
    const range = { from: new Date(Date.now() - 7_200_000).toISOString(), to: start_from };
    const backfill = await call("POST", `/${id}/backfill`, range);
    expect(backfill.body).to.deep.include({ trigger: "backfill", status: "pending", window_end: range.to });
    const shown = (await call("GET", `/${id}/runs?trigger=backfill`)).body;
    expect(shown.data.map((run: { id: string }) => run.id)).to.deep.equal([backfill.body.id]);
    await call("DELETE", `/${id}`);
    expect((await runs().findOne({ _id: backfill.body.id }))?.status).to.equal("cancelled");
  });

  it("have no run of what is not over, nor of a half range, nor when all is exported", async () => {
    const { id } = await make();
    const now = new Date().toISOString();
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const fieldOf = async (body: object) => (await call("POST", `/${id}/backfill`, body)).body.error.details.field;
    expect(await fieldOf({ from })).to.equal("to");
    expect(await fieldOf({ from, to: now })).to.equal("to");
    expect(await fieldOf({ from: "2001-01-01T00:00:00.000Z", to: from })).to.equal("from");
    const { status, body } = await call("POST", `/${id}/backfill`, {});
    expect([status, body.error.details.status]).to.deep.equal([409, "up_to_date"]);
  });

  it("are another organisation's business", async () => {
    const { id } = await make();
    const foreign = newId("warehouseExport", new Date());
    expect((await call("GET", `/${foreign}/runs`)).status).to.equal(404);
    expect((await call("GET", `/${id}/runs`)).status).to.equal(200);
  });
});
