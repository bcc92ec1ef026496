import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { CollectionSpec } from "#core/storage/mongo/collection.ts";
import { warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { s3Destination } from "../rows/warehouse.ts";
import { testDatabase } from "../servers/database.ts";
import { testServers } from "../servers/servers.ts";
import { bucketOf, deliveriesFrom, warehouseSite } from "./site.ts";

const hourMs = 3_600_000;

/** A database with runs of one app's deliveries, empty before each test, and a place of its own in a bucket of S3 for each. */
export const useRuns = (name: string, more: readonly CollectionSpec[] = []) => {
  const emptied = [warehouseExportCollection, warehouseRunCollection, deliveryCollection];
  const db = testDatabase(name, [...emptied, ...more]);
  const site = warehouseSite(db);
  const of = { tenant_id: "ten_1", app_id: "app_1" };
  const start = new Date(Date.now() - hourMs);
  let destination: ReturnType<typeof s3Destination>;
  let bucket: ReturnType<typeof bucketOf>;

  beforeEach(async () => {
    site.shift(0);
    destination = s3Destination((await testServers()).s3Url);
    bucket = bucketOf(destination);
    for (const { name: collection } of emptied) await db().collection(collection).deleteMany({});
  });
  afterEach(() => bucket.close());

  return {
    db,
    site,
    of,
    start,
    /** Of the window that has what is seeded. */
    before: new Date(start.getTime() - 1),
    later: new Date(start.getTime() + hourMs / 2),
    seed: async (count: number, at = start): Promise<DeliveryRow[]> => {
      const made = deliveriesFrom(of, at, count);
      await db().collection<DeliveryRow>(deliveryCollection.name).insertMany(made);
      return made;
    },
    get destination() {
      return destination;
    },
    get bucket() {
      return bucket;
    },
  };
};

export type Runs = ReturnType<typeof useRuns>;
