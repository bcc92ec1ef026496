import type { Db, Filter } from "mongodb";
import { dateOf } from "../../domain/clock.ts";
import { defined } from "../../domain/defined.ts";
import { showAs } from "../../schema/json/show.ts";
import { Delivery, type DeliveryListQuery } from "../../schema/messages/delivery.ts";
import { collectionOf } from "../mongo/collection.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";

export type DeliveryList = ReturnType<typeof deliveryList>;

/** Reads the deliveries of a message in the order in which they were written. */
export const deliveryList = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  return {
    page: (
      { tenantId, messageId, filters }: { tenantId: string; messageId: string; filters: DeliveryListQuery },
      page: PagePlace & { limit: number },
      signal: AbortSignal,
    ): Promise<DeliveryRow[]> =>
      rows
        .find({ message_id: messageId, tenant_id: tenantId, ...conditions(filters, page) }, { signal })
        .sort({ position: page.isDescending ? -1 : 1 })
        .limit(page.limit)
        .toArray(),
  };
};

const conditions = (query: DeliveryListQuery, place: PagePlace): Filter<DeliveryRow> => {
  const { status, channel, subscription_id, user_id, external_id, error_code, suppression_reason, from, to } = query;
  return {
    position: pageRange(null, { from: dateOf(from), to: dateOf(to) }, place), // made at the instant of its position
    ...(query.variant_id !== undefined && { _id: { $in: [] } }), // no delivery has a variant yet
    ...defined({ status, channel, subscription_id, user_id, external_id, error_code, suppression_reason }),
    ...(query.uncertain !== undefined && { uncertain: query.uncertain ? true : { $ne: true as const } }),
  };
};

/** A delivery as the REST interface shows it: every member, always. */
export const deliveryView = (row: DeliveryRow): Delivery =>
  showAs(Delivery, { ...row, id: row._id, uncertain: row.uncertain === true });
