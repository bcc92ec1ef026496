import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { EventRow } from "#core/storage/events/events.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { testDir } from "../../../../dev/files/paths.ts";
import { anExport } from "../../../support/rows/exports.ts";
import { downloaded, exportCalls, rowsOf, startExporting } from "../../../support/system/exports.ts";
import type { System } from "../../../support/system/system.ts";
import { until } from "../../../support/until.ts";

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));
const withoutS3 = Object.fromEntries(
  ["BUCKET", "ENDPOINT", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY"].map((name) => [`HERALD_S3_${name}`, ""]),
);

describe("an export of custom events, kept in a folder", () => {
  let system: System;
  let calls: ReturnType<typeof exportCalls>;
  let dir: string;
  let url: string;

  before(async () => {
    dir = await mkdtemp(join(testDir, "files-"));
    system = await startExporting(undefined, { ...withoutS3, HERALD_FILES_DIR: dir });
    const [api] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    [calls, url] = [exportCalls(system, api), api.url];
    const of = { tenant_id: system.tenantId, app_id: system.app._id, received_at: at(59), source: "api", batch: "b" };
    const many = Array.from({ length: 1_200 }, (_, n) => ({
      ...of,
      _id: `evt_a${n}`,
      name: "a.seen",
      occurred_at: at(n % 3),
    }));
    const others = [
      {
        ...of,
        _id: "evt_b1",
        name: "b.paid",
        occurred_at: at(7),
        user_id: "usr_1",
        properties: '{"sku":"=1"}',
        value: -2.5,
      },
      { ...of, _id: "evt_b2", name: "b.paid", occurred_at: at(8), subscription_id: "sub_1" },
      { ...of, tenant_id: "ten_2", app_id: "app_2", _id: "evt_other", name: "b.paid", occurred_at: at(8) },
    ];
    await system.db.collection<EventRow>("events").insertMany([...many, ...others]);
  });
  after(async () => {
    await system?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const made = async (filters: ExportRow["filters"]) => {
    const row = anExport({ tenant_id: system.tenantId, app_id: system.app._id, type: "events", filters });
    await system.db.collection<ExportRow>("exports").insertOne(row);
    return calls.ended(row._id);
  };
  /** The address names the apiserver as others reach it; here it is reached directly. */
  const reached = (address: string | null): string => {
    const { pathname, search } = new URL(address ?? "");
    return url + pathname + search;
  };

  it("has each event of the app once, name by name", async () => {
    const { download_url: address, row_count: count } = await made({});
    const found = await rowsOf(await downloaded(reached(address)));
    expect([found.length, count]).to.deep.equal([1_202, 1_202]);
    expect(new Set(found.map(({ id }) => id)).size).to.equal(1_202);
    expect(found.find(({ id }) => id === "evt_b1")).to.deep.equal({
      id: "evt_b1",
      user_id: "usr_1",
      subscription_id: "",
      name: "b.paid",
      properties: '{"sku":"=1"}',
      value: "'-2.5",
      source: "api",
      occurred_at: at(7).toISOString(),
    });
  });

  it("has those of a name and a time", async () => {
    const { download_url: address } = await made({
      name: "b.paid",
      from: at(8).toISOString(),
      to: at(9).toISOString(),
    });
    expect((await rowsOf(await downloaded(reached(address)))).map(({ id }) => id)).to.deep.equal(["evt_b2"]);
  });

  it("is served whole by the apiserver at its address alone, and gone when it has expired", async () => {
    const { id, download_url: address, size_bytes: bytes } = await made({});
    const head = await fetch(reached(address), { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).to.deep.equal([200, String(bytes)]);
    expect((await fetch(reached(address).replace("expires=1", "expires=2"))).status).to.equal(404);
    const rows = system.db.collection<ExportRow>("exports");
    await rows.updateOne({ _id: id }, { $set: { expires_at: new Date(), due_at: new Date() } });
    await until(async () => (await rows.findOne({ _id: id }))?.file === null);
    expect((await fetch(reached(address))).status).to.equal(404);
    expect((await readdir(dir, { recursive: true })).filter((file) => file.includes(id))).to.deep.equal([]);
  });
});
