import type { Db } from "mongodb";
import type { Touch } from "../../domain/events/attribution.ts";
import { collectionOf } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";

const page = 100; // people in one filter
const mostTouches = 10_000; // of them, the latest

export type Touches = ReturnType<typeof touches>;

/** The deliveries that may have led somebody to something. */
export const touches = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  return {
    /** What was sent to, or clicked by, these people in a time, both instants included. */
    ofPeople: (appId: string, userIds: readonly string[], from: Date, to: Date): Promise<Touch[]> =>
      inPages([...new Set(userIds)], page, async (some) => {
        const read = async (member: "sent_at" | "clicked_at"): Promise<Touched[]> =>
          rows
            .find<Touched>(
              { user_id: { $in: some }, [member]: { $gte: from, $lte: to }, app_id: appId },
              { projection },
            )
            .sort({ [member]: -1 })
            .limit(mostTouches)
            .toArray();
        const [sent, clicked] = [await read("sent_at"), await read("clicked_at")];
        return [...new Map([...sent, ...clicked].map((row) => [row._id, touchOf(row)])).values()];
      }),
  };
};

const members = [
  "message_id",
  "subscription_id",
  "user_id",
  "channel",
  "campaign_id",
  "sent_at",
  "clicked_at",
] as const;
const projection = Object.fromEntries(members.map((member) => [member, 1]));

type Touched = Pick<DeliveryRow, "_id" | (typeof members)[number]>;

const touchOf = ({
  _id,
  message_id,
  subscription_id,
  user_id,
  channel,
  campaign_id,
  sent_at,
  clicked_at,
}: Touched): Touch => ({
  delivery_id: _id,
  message_id,
  subscription_id,
  user_id: user_id ?? "", // found by it: null is nobody's
  channel,
  campaign_id,
  sent_at: sent_at ?? null,
  clicked_at: clicked_at ?? null,
});
