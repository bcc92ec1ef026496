import type { Db } from "mongodb";
import { dayMs } from "../../domain/durations.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";

/** A delivery that a person may answer. */
export type Answerable = Pick<
  DeliveryRow,
  "_id" | "user_id" | "provider_message_id" | "message_id" | "conversation_id"
>;

const page = 100; // people in one filter
const mostFound = 1_000; // deliveries of them, the latest
const days = 30;

/** The deliveries of the last 30 days to these people that their providers know under any of these ids. */
export const answerable =
  (db: Db) =>
  ({ tenantId, appId }: OfApp, { userIds, providerIds }: Asked, now: Date): Promise<Answerable[]> =>
    inPages([...new Set(userIds)], page, (some) =>
      collectionOf<DeliveryRow>(db, deliveryCollection)
        .find(
          {
            user_id: { $in: some },
            sent_at: { $gte: new Date(now.getTime() - days * dayMs), $lte: now },
            provider_message_id: { $in: [...providerIds] },
            app_id: appId,
            tenant_id: tenantId,
          },
          { projection: { user_id: 1, provider_message_id: 1, message_id: 1, conversation_id: 1 }, hint: "sent_to" },
        )
        .limit(mostFound)
        .toArray(),
    );

type Asked = { userIds: readonly string[]; providerIds: readonly string[] };
