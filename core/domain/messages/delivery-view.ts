import { type DocumentOf, showAs } from "../../schema/json/show.ts";
import { Delivery } from "../../schema/messages/delivery.ts";

/** What a delivery's view is made of. */
export type ViewedDelivery = Omit<DocumentOf<typeof Delivery>, "id" | "uncertain"> & { _id: string; uncertain?: true };

/** A delivery as the REST interface shows it: every member, always. */
export const deliveryView = (row: ViewedDelivery): Delivery =>
  showAs(Delivery, { ...row, id: row._id, uncertain: row.uncertain === true });
