import { showAs } from "#core/schema/json/show.ts";
import { Delivery } from "#core/schema/messages/delivery.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";

/** A delivery as the REST interface shows it: every member, always. */
export const deliveryView = (row: DeliveryRow): Delivery =>
  showAs(Delivery, { ...row, id: row._id, uncertain: row.uncertain === true });
