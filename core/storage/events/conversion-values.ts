import { type Db, Double } from "mongodb";
import { largestValue, millionths } from "../../domain/analytics/values.ts";
import { collectionOf } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type ConversionRow, conversionCollection } from "./conversions.ts";

type OfDelivery = { _id: string; tenant_id: string; app_id: string };

const page = 500; // ids in one filter

/** What the stored conversions of each of these deliveries come to, in millionths; nothing of one that has none. */
export const conversionValues = (db: Db) => {
  const rows = collectionOf<ConversionRow>(db, conversionCollection);
  return async (deliveries: readonly OfDelivery[]): Promise<ReadonlyMap<string, number>> => {
    const byApp = [...Map.groupBy(deliveries, ({ app_id: appId }) => appId)];
    const found = byApp.map(([appId, of]) =>
      inPages(of, page, (some) => {
        const delivery_id = { $in: some.map(({ _id }) => _id) };
        const filter = { app_id: appId, delivery_id, tenant_id: some[0]?.tenant_id ?? "" };
        const stages = [{ $match: filter }, { $group: { _id: "$delivery_id", value: { $sum: inMillionths } } }];
        return rows.aggregate<Sum>(stages, { hint: "delivery", batchSize: page + 1 }).toArray();
      }),
    );
    return new Map((await Promise.all(found)).flat().map(({ _id, value }) => [_id, value]));
  };
};

type Sum = { _id: string; value: number };

const whole = { $round: [{ $multiply: ["$value", new Double(millionths)] }, 0] };
const largest = new Double(largestValue * millionths);
const inMillionths = { $max: [new Double(-largestValue * millionths), { $min: [largest, whole] }] };
