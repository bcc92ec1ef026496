import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { type WarehouseExportRow, warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { newRun } from "#core/storage/warehouse/new-run.ts";
import { type WarehouseRunRow, warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { aUser, seed } from "../../support/rows/fixtures.ts";
import { aWarehouseExport, s3Destination } from "../../support/rows/warehouse.ts";
import { inSuite, testTiming } from "../../support/suite/soak.ts";
import { startExporting } from "../../support/system/exports.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { bucketOf, deliveriesFrom, sha256Of } from "../../support/warehouse/site.ts";
import { type Asked, type Rule, storeProxy } from "../../support/warehouse/store-proxy.ts";

const datasets = ["deliveries", "message_events", "users"] as const;
const hourMs = 3_600_000;
const rowsOfEach = 200;
/** Each run is killed before and behind each of its three parts and its manifest. */
const [windows, pointsOfRun] = inSuite(
  [1, ["behind deliveries", "before users", "before _manifests", "behind _manifests"]],
  {
    soak: [
      3,
      ["deliveries", "message_events", "users", "_manifests"].flatMap((name) => [`before ${name}`, `behind ${name}`]),
    ],
  },
);
/** The lease, and what a busy machine needs to begin anew. */
const takenOverMs = testTiming.leaseMs + 90_000;

describe("three dispatchers of which the one that writes a warehouse export is killed again and again", function () {
  this.timeout(pointsOfRun.length * windows * takenOverMs);
  let system: System;
  let dispatchers: SystemProgram[];
  let proxy: Awaited<ReturnType<typeof storeProxy>>;
  let bucket: ReturnType<typeof bucketOf>;
  let destination: ReturnType<typeof s3Destination>;
  const start = new Date(Date.now() - 2 * hourMs);
  const ends = Array.from({ length: windows }, (_, n) => new Date(start.getTime() + (n + 1) * 60_000));
  const made: string[][] = [];

  before(async () => {
    const started = await startExporting();
    system = started;
    destination = s3Destination(started.servers.s3Url);
    bucket = bucketOf(destination);
    proxy = await storeProxy(started.servers.s3Url);
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    for (const end of ends) {
      const at = new Date(end.getTime() - 30_000);
      const deliveries = deliveriesFrom(of, at, rowsOfEach);
      await system.db.collection<DeliveryRow>(deliveryCollection.name).insertMany(deliveries);
      const users = Array.from({ length: rowsOfEach }, () => aUser({ ...of, created_at: at, updated_at: at }));
      await seed(system.db, { users });
      made.push([...deliveries, ...users].map(({ _id }) => _id));
    }
    dispatchers = await Promise.all([0, 1, 2].map(() => system.start("dispatcher")));
  });
  after(async () => {
    proxy?.close();
    bucket?.close();
    await system?.stop();
  });

  const runs = () => system.db.collection<WarehouseRunRow>(warehouseRunCollection.name);
  const killed: string[] = [];
  const written = new Map<string, string>();
  let repeated = 0;

  /** Kills whoever has the run, and starts them again. */
  const kill = async (id: string): Promise<void> => {
    const row = await runs().findOne({ _id: id });
    const holder = dispatchers.find((one) => row?.lease?.holder.includes(`/${one.pid()}/`));
    expect(holder, "the dispatcher that has the run").to.not.equal(undefined);
    await holder?.kill();
    await holder?.restart();
  };

  /** Kills before and behind writes, each once; what is written again must be the same. */
  const killing = (id: string, failed: (error: unknown) => void): Rule => {
    const dead = new Set<string>();
    const at = async (when: "before" | "behind", { key }: Asked): Promise<boolean> => {
      const point = `${when} ${nameOf(key)}`;
      if (!pointsOfRun.includes(point) || dead.has(point)) return false;
      dead.add(point);
      killed.push(`${id} ${point}`);
      await kill(id).catch(failed);
      return true;
    };
    return async (asked, pass) => {
      if (asked.method !== "PUT") return pass();
      const sha256 = sha256Of(asked.body);
      const before = written.get(asked.key);
      if (before !== undefined) repeated++;
      if (before !== undefined && before !== sha256) failed(new Error(`${asked.key} was written with other bytes`));
      written.set(asked.key, sha256);
      if (await at("before", asked)) return null;
      const answer = await pass();
      return (await at("behind", asked)) ? null : answer;
    };
  };
  /** `…/v1/<name>/…` */
  const nameOf = (key: string): string => /\/v1\/(\w+)\//.exec(key)?.[1] ?? "";

  it("hand each row over in exactly one manifest, and write the same bytes again", async () => {
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const row = aWarehouseExport(
      { ...destination, endpoint: proxy.url },
      { ...of, datasets: [...datasets], due_at: null },
    );
    await system.db.collection<WarehouseExportRow>(warehouseExportCollection.name).insertOne(row);
    const faults: unknown[] = [];
    for (const [n, to] of ends.entries()) {
      const from = ends[n - 1] ?? start;
      const run = newRun(row, {
        id: newId("warehouseRun", new Date()),
        trigger: "manual",
        windows: datasets.map((dataset) => ({ dataset, from, to })),
        now: new Date(),
      });
      proxy.set(killing(run._id, (error) => faults.push(error)));
      await runs().insertOne(run);
      const ended = async (): Promise<boolean> => {
        if (faults.length > 0) throw faults[0];
        return (await runs().findOne({ _id: run._id }))?.open !== true;
      };
      await until(ended, pointsOfRun.length * takenOverMs, 100);
      expect(await runs().findOne({ _id: run._id })).to.include({ status: "completed" });
    }
    expect(killed, killed.join(", ")).to.have.length(windows * pointsOfRun.length);
    expect(repeated, "parts that were written again").to.be.greaterThan(0);
    const manifests = await bucket.manifests();
    expect(manifests.map(({ sequence }) => sequence)).to.deep.equal(ends.map((_, n) => n + 1));
    expect((await bucket.keys()).length, "no file that no manifest names").to.equal(windows * (datasets.length + 1));
    const rows = await bucket.rows(manifests);
    const named = manifests.flatMap((one) => one.datasets.map(({ rows: count }) => count));
    expect(rows).to.have.length(named.reduce((sum, count) => sum + count, 0));
    expect(rows).to.have.length(windows * rowsOfEach * 4); // a delivery was queued and sent
    const ids = rows.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids).to.include.members(made.flat());
  });
});
