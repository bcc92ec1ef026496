import type { Db } from "mongodb";
import { type DeliveryCounts, deliveryCounts } from "../usage/delivery-counts.ts";
import { dueQuarters } from "./due-quarters.ts";

/** Usage of deliveries, whose counting has the counters of analytics made anew, too: both are asked after every run of a piece. */
export const countedDeliveries = (db: Db): DeliveryCounts => {
  const [usage, quarters] = [deliveryCounts(db), dueQuarters(db)];
  return {
    ...usage,
    count: async (piece, stored) => void (await Promise.all([usage.count(piece, stored), quarters.touch(stored)])),
  };
};
