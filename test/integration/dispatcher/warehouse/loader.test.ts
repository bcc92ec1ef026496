import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect } from "chai";
import { parseString } from "fast-csv";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { type WarehouseExportRow, warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { blocksOf } from "../../../support/pages/blocks.ts";
import { s3Destination } from "../../../support/rows/warehouse.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { bucketOf, deliveriesFrom, warehouseSite } from "../../../support/warehouse/site.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const run = promisify(execFile);

describe("who loads a warehouse export", () => {
  const collections = [deliveryCollection, messageCollection, warehouseExportCollection, warehouseRunCollection];
  const db = testDatabase("warehouse_loader", collections);
  const site = warehouseSite(db);
  const start = new Date(Date.now() - 3_600_000);
  const ends = [1, 1_000, 2_000].map((ms) => new Date(start.getTime() + ms));
  let [destination, bucket] = [{} as ReturnType<typeof s3Destination>, {} as ReturnType<typeof bucketOf>]; // sound: made before
  let folder = "";

  before(async () => {
    destination = s3Destination((await testServers()).s3Url);
    bucket = bucketOf(destination);
    folder = mkdtempSync(join(tmpdir(), "herald-warehouse-"));
    const [program] = blocksOf("warehouse.md").filter(({ info }) => info === "js");
    writeFileSync(join(folder, "load.mjs"), program?.text ?? "");
    const made = ends.flatMap((end) => deliveriesFrom(of, new Date(end.getTime() - 1), 3));
    await db().collection<DeliveryRow>(deliveryCollection.name).insertMany(made);
  });
  after(() => {
    bucket.close();
    rmSync(folder, { recursive: true });
  });

  const exportAll = async (over: Partial<WarehouseExportRow> = {}): Promise<string> => {
    const row = await site.add(destination, { ...of, ...over });
    for (const [n, end] of ends.entries())
      await site.run(await site.begin(row, ends[n - 1] ?? new Date(start.getTime() - 1), end));
    return row._id;
  };
  /** As `aws s3 sync` makes it. */
  const copy = async (name: string, isThere: (key: string) => boolean = () => true): Promise<string> => {
    const to = join(folder, name);
    for (const key of (await bucket.keys()).filter(isThere)) {
      mkdirSync(dirname(join(to, key)), { recursive: true });
      writeFileSync(join(to, key), await bucket.read(key));
    }
    return to;
  };
  const load = async (from: string, id: string): Promise<{ id: string }[]> => {
    const { stdout } = await run(process.execPath, [join(folder, "load.mjs"), from, destination.prefix, id]);
    return stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { id: string });
  };
  const refusal = (from: string, id: string): Promise<unknown> =>
    load(from, id).then(
      () => null,
      ({ stderr }: { stderr: string }) => /Error: (.*)/.exec(stderr)?.[1],
    );

  it("gets each row once with the program of the guide, and refuses a gap and a file that was changed", async () => {
    const id = await exportAll();
    const manifests = (await bucket.manifests()).filter((one) => one.sequence > 0);
    const whole = await copy("whole");
    const rows = await load(whole, id);
    expect(rows).to.have.length(9);
    expect(new Set(rows.map((row) => row.id)).size).to.equal(9);
    expect(await load(whole, id), "nothing is new").to.deep.equal([]);
    const second = manifests[1];
    const gap = await copy("gap", (key) => !key.endsWith(`${second?.run_id}.json`));
    expect(await refusal(gap, id)).to.equal("manifest 2 is missing");
    const { key = "" } = second?.datasets[0]?.files[0] ?? {};
    const lost = await copy("lost", (one) => one !== key);
    expect(await refusal(lost, id)).to.match(/ENOENT/);
    const changed = await copy("changed");
    writeFileSync(join(changed, key), "x");
    expect(await refusal(changed, id)).to.equal(`${key} is not what manifest 2 says`);
  });

  it("loads Parquet into DuckDB with the statements of the guide, and finds the latest version of each row", async () => {
    const row = await site.add(destination, { ...of, format: "parquet", datasets: ["deliveries"] });
    const ids = [await site.begin(row, new Date(start.getTime() - 1), ends[2] ?? start)];
    await site.run(ids[0] ?? "");
    const whole = await copy("parquet", (key) => key.endsWith(".parquet"));
    const [load = "", , latest = ""] = blocksOf("warehouse.md").flatMap(({ info, text }) =>
      info === "sql" ? text : [],
    );
    const [create = "", insert = ""] = load.replaceAll("copy/herald", `${whole}/${destination.prefix}`).split(";");
    const duckdb = await DuckDBInstance.create(":memory:", { threads: "1" });
    const link = await duckdb.connect();
    try {
      await link.run(create);
      for (let twice = 0; twice < 2; twice++) await link.run(insert.replace(/dt=.*\.parquet/, "**/*.parquet"));
      await link.run(latest);
      const found = await link.runAndReadAll(
        "select count(*)::int as n, count(distinct id)::int as ids, (select count(*)::int from deliveries) as whole from latest_deliveries",
      );
      expect(found.getRowObjectsJson()).to.deep.equal([{ n: 9, ids: 9, whole: 18 }]);
    } finally {
      link.closeSync();
      duckdb.closeSync();
    }
  });

  it("gets messages, and CSV that a parser reads back as it was", async () => {
    const at = new Date(start.getTime() + 10);
    const name = 'Comma, "quote"\nand = a line';
    const message = aMessage({ ...of, name, labels: ["a,b"], created_at: at, updated_at: at });
    await db().collection<MessageRow>(messageCollection.name).insertOne(message);
    const row = await site.add(destination, { ...of, format: "csv", datasets: ["messages"] });
    const runId = await site.begin(row, start, ends[1] ?? start);
    await site.run(runId);
    const manifest = (await bucket.manifests()).find(({ run_id: id }) => id === runId);
    const [file] = manifest?.datasets[0]?.files ?? [];
    const parsed: Record<string, string>[] = [];
    const text = gunzipSync(await bucket.read(file?.key ?? "")).toString();
    for await (const one of parseString(text, { headers: true })) parsed.push(one as Record<string, string>);
    expect(parsed).to.have.length(1);
    expect(parsed[0]).to.include({ id: message._id, name, labels: '["a,b"]', error: "", updated_at: at.toISOString() });
    expect(Object.keys(parsed[0] ?? {})).to.deep.equal(manifest?.datasets[0]?.columns.map((one) => one.name));
  });
});
