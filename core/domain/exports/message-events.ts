import type { MessageEvent } from "../../schema/exports/export.ts";
import { derivedId, instantOfId } from "../ids.ts";
import type { Progress } from "../messages/progress.ts";

/** Something that happened to a delivery, and when. */
export type Happened = { event: MessageEvent; at: Date; isOfMachine?: true };

type Delivery = Progress & {
  _id: string;
  message_id: string;
  created_at: Date;
  updated_at: Date;
  expired_at?: Date;
};

/**
 * What happened to a delivery, as its instants say, in the order in which it usually happens. Of several of one kind it
 * has the first. Source: docs/reference/exports.md#message-events.
 */
export const happenedTo = (delivery: Delivery): Happened[] => {
  const { status, created_at: at } = delivery;
  const happened: Happened[] = [{ event: "queued", at: instantOfId(delivery.message_id) }];
  if (status === "suppressed") happened.push({ event: "suppressed", at });
  const add = (event: MessageEvent, instant: Date | undefined, isOfMachine?: true): void => {
    if (instant !== undefined) happened.push({ event, at: instant, ...(isOfMachine && { isOfMachine }) });
  };
  add("sent", delivery.sent_at);
  add(status === "errored" ? "errored" : "failed", delivery.failed_at);
  add("expired", delivery.expired_at);
  add("bounced", delivery.bounced_at);
  add("delivered", delivery.delivered_at);
  add("opened", delivery.opened_at);
  add("clicked", delivery.clicked_at);
  add("opened", delivery.machine_opened_at, true);
  add("clicked", delivery.machine_clicked_at, true);
  add("complained", delivery.complained_at);
  add("unsubscribed", delivery.unsubscribed_at);
  if (status === "cancelled") happened.push({ event: "cancelled", at: delivery.updated_at });
  return happened;
};

/** The id of the webhook event that tells of the same, where there is one (dispatcher/callbacks/events.ts). */
export const eventIdOf = (delivery: Delivery, { event, at, isOfMachine }: Happened): string => {
  const { _id, clicked_url: url = "", clicked_button_id: button = "" } = delivery;
  if (isOfMachine === true) return derivedId("event", "machine", event, _id);
  const more = event === "clicked" ? [at.toISOString(), url, button] : [];
  return derivedId("event", `delivery.${event === "errored" ? "failed" : event}`, _id, ...more);
};
