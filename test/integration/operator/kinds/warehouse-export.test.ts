import { expect } from "chai";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import {
  type WarehouseExportRow,
  warehouseExportCollection,
  warehouseSecretPlace,
} from "#core/storage/warehouse/exports.ts";
import { newRun } from "#core/storage/warehouse/new-run.ts";
import { type WarehouseRunRow, warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

const secret = "wJalrXUtnFEMI";

describe("operator: a WarehouseExport", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    await herald.start(); // its next resync is ten minutes away
    const plan = make.plan({ features: ["warehouse_export"] });
    for (const object of [plan, make.tenant(), make.app({ channels: {} })]) await herald.apply(object);
    await herald.ready(make.app());
  });
  after(() => herald?.close());

  const rows = () => collectionOf<WarehouseExportRow>(herald.db, warehouseExportCollection);
  const keys = (secret_access_key: string) => make.secret("lake", { access_key_id: "AKIA", secret_access_key });
  const messageOf = async (object: Manifest): Promise<string> =>
    (await herald.conditionOf(object, "Ready"))?.message ?? "";

  it("waits for its Secret, seals what is in it, and writes nothing when nothing has changed", async () => {
    const lake = make.lake();
    await herald.apply(lake);
    await herald.ready(lake, "False", "SecretNotFound");
    await herald.apply(keys(secret));
    const { status } = await herald.ready(lake);
    const id = status?.id ?? "";
    expect(status).to.include({ state: "active" });
    const row = await rows().findOne({ _id: id });
    if (row?.secrets.secret_access_key === undefined) throw new Error("no record");
    expect(JSON.stringify([row, status])).not.to.include(secret);
    const opened = keyRing(herald.settings.keyRing).open(
      row.secrets.secret_access_key,
      warehouseSecretPlace(id, "secret_access_key"),
    );
    expect(opened).to.equal(secret);
    expect(row).to.deep.include({ name: "Lake", format: "jsonl", datasets: ["deliveries"], excluded_columns: [] });
    expect(row.schedule).to.deep.equal({ frequency: "24h", start_at: "00:00", timezone: "UTC", exclude_window: null });
    await herald.patch(lake, { metadata: { labels: { touched: "yes" } } });
    await herald.patch(lake, { spec: { datasets: ["deliveries", "users"], format: "parquet", compression: "zstd" } });
    await herald.ready(lake);
    const after = await rows().findOne({ _id: id });
    expect(after).to.deep.include({ format: "parquet", compression: "zstd", secrets: row.secrets });
    expect(after?.secrets_updated_at).to.deep.equal(row.secrets_updated_at);
    expect(after?.watermarks.users, "a dataset begins when it is named").to.be.instanceOf(Date);
    expect(after?.watermarks.deliveries).to.deep.equal(row.watermarks.deliveries);
  });

  it("is refused with what no rule of the CRD sees, and stays as it was", async () => {
    const lake = make.lake();
    const cases = [
      [{ schedule: { timezone: "Mars/Base" } }, "SettingInvalid", /^spec\.schedule\.timezone: /],
      [
        { schedule: { timezone: "UTC" }, excludedColumns: ["deliveries.id"] },
        "SettingInvalid",
        /^spec\.excludedColumns\[0\]: /,
      ],
      [
        { excludedColumns: [], destination: { endpoint: "https://10.0.0.8" } },
        "AddressRefused",
        /^spec\.destination\.endpoint: /,
      ],
    ] as const;
    for (const [spec, reason, message] of cases) {
      await herald.patch(lake, { spec });
      await herald.ready(lake, "False", reason);
      expect(await messageOf(lake)).to.match(message);
    }
    await herald.patch(lake, { spec: { destination: { endpoint: null } } });
    await herald.ready(lake);
    expect(await rows().findOne()).to.have.nested.property("destination.endpoint", null);
  });

  it("keeps a container of Azure with the one secret of it that its Secret has", async () => {
    const destination = { type: "azure_blob", account: "acme", container: "lake", secretRef: { name: "azure" } };
    const blobs = make.lake({ name: "Blobs", destination }, "blobs");
    await herald.apply(make.secret("azure", { sas_token: "sv=2026&sig=c2ln" }));
    await herald.apply(blobs);
    const { status } = await herald.ready(blobs);
    const row = await rows().findOne({ _id: status?.id ?? "" });
    expect(row?.destination).to.deep.equal({
      type: "azure_blob",
      account: "acme",
      container: "lake",
      prefix: "",
      endpoint: null,
    });
    expect(Object.keys(row?.secrets ?? {})).to.deep.equal(["sas_token"]);
    await herald.remove(blobs);
    await herald.gone(blobs);
  });

  it("keeps the store in front of a warehouse, and says under its own names what does not fit", async () => {
    const warehouse = { type: "snowflake", database: "DATA", schema: "messaging", stage: "HERALD" };
    const more = { format: "parquet", datasets: ["events"], eventNames: ["order.paid"], includePii: true };
    const given = make.lake({ name: "Flakes", warehouse, ...more }, "flakes");
    await herald.apply(given);
    const { status } = await herald.ready(given);
    const row = await rows().findOne({ _id: status?.id ?? "" });
    expect(row).to.deep.include({ warehouse, format: "parquet", event_names: ["order.paid"], include_pii: true });
    expect(row?.destination).to.include({ type: "s3", bucket: "acme-lake" });
    await herald.patch(given, { spec: { warehouse: { catalog: "main" } } });
    await herald.ready(given, "False", "SettingInvalid");
    expect(await messageOf(given)).to.equal("spec.warehouse.catalog: is no member of the type snowflake");
    await herald.patch(given, {
      spec: { warehouse: { catalog: null }, destination: { endpoint: "https://10.0.0.8" } },
    });
    await herald.ready(given, "False", "AddressRefused");
    expect(await messageOf(given)).to.match(/^spec\.destination\.endpoint: /);
    await herald.remove(given);
    await herald.gone(given);
  });

  it("says what is wrong with a service account's file", async () => {
    const destination = { type: "gcs", bucket: "acme-lake", secretRef: { name: "google" } };
    const google = make.lake({ name: "Google", destination }, "google");
    await herald.apply(make.secret("google", { credentials_json: "{}" }));
    await herald.apply(google);
    await herald.ready(google, "False", "SecretInvalid");
    expect(await messageOf(google)).to.include("credentials_json: has no project_id");
    await herald.remove(google);
    await herald.gone(google);
  });

  it("ends the run that is under way when it goes", async () => {
    const row = await rows().findOne();
    if (row === null) throw new Error("no record");
    const runs = collectionOf<WarehouseRunRow>(herald.db, warehouseRunCollection);
    const windows = [{ dataset: "deliveries" as const, from: new Date(0), to: new Date() }];
    const run = newRun(row, { id: "wxr_1", trigger: "manual", windows, now: new Date() });
    await runs.insertOne(run);
    await herald.remove(make.lake());
    await herald.gone(make.lake());
    expect(await rows().countDocuments()).to.equal(0);
    expect(await runs.findOne({ _id: run._id })).to.deep.include({ status: "cancelled", due_at: null });
  });
});
