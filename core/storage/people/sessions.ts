import type { Db } from "mongodb";
import { sessionEnd } from "../../domain/people/session.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";

/** A message that a person sent to an app on WhatsApp. */
export type Wrote = { address: string; at: Date };

/** What of a delivery says whether its recipient's session is closed. */
type Refused = { subscription_id: string; error_code?: string; failed_at?: Date };

export type Sessions = ReturnType<typeof sessions>;

/**
 * The time in which people may be sent anything on WhatsApp, as their subscriptions have it; somebody without one has no
 * session. Both may run twice, and in any order.
 */
export const sessions = (db: Db) => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    /** A message opens a session, or prolongs it; one that comes late never shortens it. */
    open: async ({ tenantId, appId }: OfApp, messages: readonly Wrote[], now: Date): Promise<void> => {
      if (messages.length === 0) return;
      await rows.bulkWrite(
        messages.map(({ address, at }) => ({
          updateOne: {
            filter: { app_id: appId, channel: "whatsapp" as const, token: address, tenant_id: tenantId },
            update: { $max: { session_expires_at: sessionEnd(at < now ? at : now) } },
          },
        })),
        { ordered: false },
      );
    },

    /**
     * Closes the sessions of deliveries that the provider refused because there was none, unless the person has written
     * since.
     */
    close: async (deliveries: readonly Refused[]): Promise<void> => {
      const closed = deliveries.flatMap(({ subscription_id: _id, error_code: code, failed_at: at }) => {
        if (code !== "SESSION_CLOSED" || at === undefined) return [];
        const filter = { _id, session_expires_at: { $lte: sessionEnd(at) } };
        return [{ updateOne: { filter, update: { $set: { session_expires_at: null } } } }];
      });
      if (closed.length > 0) await rows.bulkWrite(closed, { ordered: false });
    },
  };
};
