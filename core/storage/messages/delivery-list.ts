import type { Db, Filter } from "mongodb";
import { dateOf } from "../../domain/clock.ts";
import { defined } from "../../domain/defined.ts";
import type { DeliveryListQuery } from "../../schema/messages/delivery.ts";
import { collectionOf } from "../mongo/collection.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { readSlices, type Slices } from "../mongo/read-slices.ts";
import type { Within } from "../mongo/read-within.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";

export type DeliveryList = ReturnType<typeof deliveryList>;

/**
 * Reads the deliveries of a message in the order in which they were written. No index finds those of one status or person:
 * when few of many fit, a page is shorter.
 */
export const deliveryList = (db: Db, slices?: Slices) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  return {
    page: async (
      { tenantId, messageId, filters }: { tenantId: string; messageId: string; filters: DeliveryListQuery },
      { after, isDescending, limit }: PagePlace & { limit: number },
      signal: AbortSignal,
    ): Promise<Within<DeliveryRow>> => {
      const { from, to } = filters;
      const times = { from: dateOf(from), to: dateOf(to) }; // made at the instant of its position
      const range = pageRange(null, times, { after, isDescending });
      const wanted = conditions(filters);
      if (Object.keys(wanted).length > 0) {
        const list = { of: { message_id: messageId }, by: "position", range, isDescending, limit } as const;
        return readSlices(rows, { ...list, wanted: { tenant_id: tenantId, ...wanted } }, signal, slices);
      }
      const found = rows.find({ message_id: messageId, tenant_id: tenantId, position: range }, { signal });
      return {
        rows: await found
          .sort({ position: isDescending ? -1 : 1 })
          .limit(limit)
          .toArray(),
        isWhole: true,
      };
    },
  };
};

const conditions = (query: DeliveryListQuery): Filter<DeliveryRow> => {
  const { status, channel, variant_id, subscription_id, user_id, external_id, error_code, suppression_reason } = query;
  return {
    ...defined({ status, channel, variant_id, subscription_id, user_id, external_id, error_code, suppression_reason }),
    ...(query.uncertain !== undefined && { uncertain: query.uncertain ? true : { $ne: true as const } }),
  };
};
