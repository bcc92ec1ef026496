import { type DocumentOf, showAs } from "../../schema/json/show.ts";
import { Delivery, type DeliveryTry, type DeliveryWithTries } from "../../schema/messages/delivery.ts";

/** What a delivery's view is made of. */
export type ViewedDelivery = Omit<DocumentOf<typeof Delivery>, "id" | "uncertain"> & { _id: string; uncertain?: true };

/** A delivery as the REST interface shows it: every member, always. */
export const deliveryView = (row: ViewedDelivery): Delivery =>
  showAs(Delivery, { ...row, id: row._id, uncertain: row.uncertain === true });

type Tried = Omit<DeliveryTry, "at" | "status"> & { at: Date };

/** The same with each call of a provider that is known. Source: docs/reference/notification-operations.md#tries. */
export const deliveryWithTries = (row: ViewedDelivery & { tries?: readonly Tried[] }): DeliveryWithTries => {
  const before = (row.tries ?? []).map(({ at, ...one }) => ({
    ...one,
    at: at.toISOString(),
    status: "retried" as const,
  }));
  const view = deliveryView(row);
  return { ...view, tries: [...before, ...lastOf(view, before.length)] };
};

/** The last call, which the delivery itself tells of; none where it was not made. */
const lastOf = (view: Delivery, before: number): DeliveryTry[] => {
  if (view.attempts <= before || view.attempts === 0) return [];
  const { sent_at, failed_at, expired_at, created_at, provider, error_code, provider_code, error_message } = view;
  const at = sent_at ?? failed_at ?? expired_at ?? created_at;
  const isTaken = sent_at !== null;
  const said = { code: error_code, provider_code, answer: error_message };
  const taken = { code: null, provider_code: null, answer: view.uncertain ? error_message : null };
  return [{ at, provider, status: isTaken ? "sent" : endOf(view), ...(isTaken ? taken : said) }];
};

const endOf = ({ status }: Delivery): DeliveryTry["status"] =>
  status === "errored" || status === "expired" ? status : "failed";
