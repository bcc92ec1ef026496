import type { MessageEvent } from "../../schema/exports/export.ts";
import { derivedId } from "../ids.ts";
import type { Progress } from "../messages/progress.ts";

/** Something that happened to a delivery, and when. */
export type Happened = { event: MessageEvent; at: Date };

type Delivery = Progress & { _id: string; created_at: Date; expired_at?: Date };

/**
 * What happened to a delivery, as its instants say, in the order in which it usually happens. Of several of one kind it
 * has the first. Source: docs/reference/exports.md#message-events.
 */
export const happenedTo = (delivery: Delivery): Happened[] => {
  const { status, created_at: at } = delivery;
  const happened: Happened[] = status === "suppressed" ? [{ event: "suppressed", at }] : [];
  const add = (event: MessageEvent, instant: Date | undefined): void => {
    if (instant !== undefined) happened.push({ event, at: instant });
  };
  add("sent", delivery.sent_at);
  add(status === "errored" ? "errored" : "failed", delivery.failed_at);
  add("expired", delivery.expired_at);
  add("bounced", delivery.bounced_at);
  add("delivered", delivery.delivered_at);
  add("opened", delivery.opened_at);
  add("clicked", delivery.clicked_at);
  add("complained", delivery.complained_at);
  add("unsubscribed", delivery.unsubscribed_at);
  return happened;
};

/** The id of the webhook event that tells of the same, where there is one (dispatcher/callbacks/events.ts). */
export const eventIdOf = (delivery: Delivery, { event, at }: Happened): string => {
  const { _id, clicked_url: url = "", clicked_button_id: button = "" } = delivery;
  const more = event === "clicked" ? [at.toISOString(), url, button] : [];
  return derivedId("event", `delivery.${event === "errored" ? "failed" : event}`, _id, ...more);
};
