import { createHash, randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { S3 } from "@aws-sdk/client-s3";
import type { Db } from "mongodb";
import { newId } from "#core/domain/ids.ts";
import { timings } from "#core/domain/timing.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { WarehouseDestinationInput } from "#core/schema/warehouse/destination.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { type WarehouseExportRow, warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { hashKeys } from "#core/storage/warehouse/hash-keys.ts";
import { newRun } from "#core/storage/warehouse/new-run.ts";
import { type WarehouseRunRow, warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { warehouseExportJob } from "../../../dispatcher/jobs/warehouse-exports.ts";
import { warehouseRunJob } from "../../../dispatcher/jobs/warehouse-runs.ts";
import type { Destination } from "../../../dispatcher/warehouse/destinations/destination.ts";
import { destinationOpener } from "../../../dispatcher/warehouse/destinations/open.ts";
import { warehouseMails } from "../../../dispatcher/warehouse/owner-mails.ts";
import type { MailServer } from "../../../dispatcher/work/mailer.ts";
import { aMail } from "../callbacks/deliveries.ts";
import { testKeyRing } from "../rows/fixtures.ts";
import { aWarehouseExport, type s3Destination } from "../rows/warehouse.ts";

export type Manifest = {
  sequence: number;
  run_id: string;
  chain: string;
  previous: { key: string; sha256: string } | null;
  datasets: {
    name: string;
    columns: { id: number; name: string }[];
    window: { start: string; end: string };
    rows: number;
    files: { key: string; rows: number; bytes: number; sha256: string }[];
  }[];
};

type Given = ReturnType<typeof s3Destination>;

/** What is in the bucket of a destination. */
export const bucketOf = ({ endpoint, region, bucket: Bucket, prefix, access_key_id, secret_access_key }: Given) => {
  const credentials = { accessKeyId: access_key_id, secretAccessKey: secret_access_key };
  const s3 = new S3({ endpoint, region, forcePathStyle: true, credentials });
  const read = async (Key: string): Promise<Buffer> => {
    const { Body } = await s3.getObject({ Bucket, Key });
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  };
  const keys = async (): Promise<string[]> => {
    const { Contents = [] } = await s3.listObjectsV2({ Bucket, Prefix: `${prefix}/` });
    return Contents.flatMap(({ Key }) => Key ?? []);
  };
  return {
    read,
    keys,
    /** All manifests, the first of the chain at the begin. */
    manifests: async (): Promise<Manifest[]> => {
      const found = (await keys()).filter((key) => key.includes("/_manifests/"));
      const all = await Promise.all(found.map(async (key) => JSON.parse((await read(key)).toString()) as Manifest));
      return all.sort((a, b) => a.sequence - b.sequence);
    },
    /** The rows of every file that manifests name, each file compared with what its manifest says. */
    rows: async (manifests: readonly Manifest[]): Promise<Record<string, unknown>[]> => {
      const rows: Record<string, unknown>[] = [];
      for (const { key, rows: count, bytes, sha256 } of manifests.flatMap(({ datasets }) =>
        datasets.flatMap((one) => one.files),
      )) {
        const body = await read(key);
        if (body.byteLength !== bytes || sha256Of(body) !== sha256)
          throw new Error(`${key} is not what its manifest says`);
        const lines = gunzipSync(body).toString().split("\n").slice(0, -1);
        if (lines.length !== count) throw new Error(`${key} has ${lines.length} rows`);
        rows.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
      }
      return rows;
    },
    close: () => s3.destroy(),
  };
};

export const sha256Of = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const never = new AbortController().signal;

export type RunOptions = {
  /** Stands between the run and its store. */
  through?: (destination: Destination) => Destination;
  partRows?: number;
  termMs?: number;
  /** How long a request to the store may take, with its repeats. */
  mostMs?: number;
};

/** Dispatchers as far as the jobs of warehouse exports go, whose clock can be set. */
export const warehouseSite = (
  db: () => Db,
  features: readonly string[] = ["warehouse_export"],
  mail: MailServer | null = null,
) => {
  let shiftMs = 0;
  const clock = { now: () => new Date(Date.now() + shiftMs) };
  const log = createLog({ program: "dispatcher", level: "fatal" });
  const opening = {
    guard: addressGuard({ allow: ["127.0.0.0/8"] }),
    resolve: async () => ["127.0.0.1"],
    unseal: keyRing(testKeyRing).open,
    clock,
  };
  const open = destinationOpener(opening);
  const exports = () => db().collection<WarehouseExportRow>(warehouseExportCollection.name);
  const runs = () => db().collection<WarehouseRunRow>(warehouseRunCollection.name);
  const plan = { features };
  const usage = new Map<string, number>();
  return {
    clock,
    shift: (ms: number) => void (shiftMs = ms),
    exports,
    runs,
    openDestination: open,
    plan,
    /** Bytes by tenant. */
    usage,
    add: async (
      destination: WarehouseDestinationInput,
      over: Partial<WarehouseExportRow> & Pick<WarehouseExportRow, "tenant_id" | "app_id">,
    ) => {
      const row = aWarehouseExport(destination, over);
      await exports().insertOne(row);
      return row;
    },
    /** Begins a run of what changed in a window, as who asks for it by REST. */
    begin: async (of: WarehouseExportRow, from: Date, to: Date, trigger: "manual" | "backfill" = "manual") => {
      const windows = of.datasets.map((dataset) => ({ dataset, from, to }));
      const row = newRun(of, { id: newId("warehouseRun", clock.now()), trigger, windows, now: clock.now() });
      await runs().insertOne(row);
      return row._id;
    },
    run: async (
      id: string,
      { through = (same) => same, partRows, termMs = timings.usual.leaseMs, mostMs }: RunOptions = {},
    ) => {
      const metrics = createMetrics("dispatcher");
      const hashKeyOf = hashKeys(db(), keyRing(testKeyRing));
      const openDestination: typeof open = async (...given) =>
        through(await (mostMs === undefined ? open : destinationOpener({ ...opening, mostMs }))(...given));
      const common = { clock, metrics, stopping: never };
      const job = warehouseRunJob({
        ...common,
        countUsage: (tenant, { bytes = 0 }) => void usage.set(tenant, (usage.get(tenant) ?? 0) + bytes),
        db: db(),
        openDestination,
        hashKeyOf,
        ...(partRows !== undefined && { partRows }),
      });
      await job.run(id, { ...common, holder: randomUUID(), log, timing: { leaseMs: termMs } }, never);
    },
    /** Has the schedule of an export looked at. */
    look: async (id: string) => {
      const metrics = createMetrics("dispatcher");
      const directory = { tenant: async () => ({ plan: "p" }), plan: async () => plan } as unknown as Parameters<
        typeof warehouseExportJob
      >[0]["directory"]; // sound: it reads no more of them
      const warehouseTests = { name: "none", start: async () => undefined, stop: async () => undefined };
      const mails = warehouseMails({ db: db(), mail, log });
      const job = warehouseExportJob({ db: db(), directory, clock, warehouseTests, warehouseMails: mails });
      const deps = { holder: randomUUID(), log, timing: { leaseMs: timings.usual.leaseMs } };
      await job.run(id, { ...deps, clock, metrics, stopping: never }, never);
      mails.close();
    },
    exportNow: async (id: string): Promise<WarehouseExportRow | null> => exports().findOne({ _id: id }),
    runNow: async (id: string): Promise<WarehouseRunRow | null> => runs().findOne({ _id: id }),
  };
};

/** Deliveries of an app that changed one ms after another, from an instant on. */
export const deliveriesFrom = (of: { tenant_id: string; app_id: string }, at: Date, count: number): DeliveryRow[] =>
  Array.from({ length: count }, (_, n) => {
    const instant = new Date(at.getTime() + Math.floor(n / 3));
    return aMail(of, { created_at: instant, updated_at: instant }).delivery;
  });
