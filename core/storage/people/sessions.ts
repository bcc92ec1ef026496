import type { Collection, Db } from "mongodb";
import { adSessionEnd, isSessionRefused, sessionEnd } from "../../domain/people/session.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf, longAgo, type OfApp } from "../mongo/collection.ts";
import { inLockOrder } from "../mongo/duplicate.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";

/** A message that a person sent to an app on WhatsApp. */
export type Wrote = { address: string; at: Date };

/** The same by a subscription, and whether an advertisement led to it. */
type WroteTo = { subscriptionId: string; at: Date; isFromAd: boolean };

/** What of a delivery says whether its recipient's session is closed. */
type Refused = { subscription_id: string; error_code?: string; failed_at?: Date };

/** What of a delivery says that its recipient was answered. */
type Sent = { subscription_id: string; channel: Channel; sent_at?: Date };

export type Sessions = ReturnType<typeof sessions>;

/**
 * The time in which people may be sent anything on WhatsApp, as their subscriptions have it; somebody without one has no
 * session. All may run twice, and in any order.
 */
export const sessions = (db: Db) => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    /** A message opens a session, or prolongs it; one that comes late never shortens it. */
    open: (of: OfApp, messages: readonly Wrote[], now: Date): Promise<void> =>
      raise(rows, of, { messages, by: ({ at }) => begun(at < now ? at : now, false) }),

    /** The same; where an advertisement led to a message, the first answer within a day prolongs the session. */
    begin: async ({ tenantId, appId }: OfApp, messages: readonly WroteTo[], now: Date): Promise<void> => {
      if (messages.length === 0) return;
      const writes = inLockOrder(messages, ({ subscriptionId }) => subscriptionId).map(
        ({ subscriptionId, at, isFromAd }) => ({
          updateOne: {
            filter: { _id: subscriptionId, app_id: appId, tenant_id: tenantId },
            update: { $max: begun(at < now ? at : now, isFromAd) },
          },
        }),
      );
      await rows.bulkWrite(writes, { ordered: false });
    },

    /** What follows from deliveries that were tried: {@link answered}, and {@link close}. */
    move: async (deliveries: readonly (Sent & Refused)[]): Promise<void> => {
      await answered(rows, deliveries);
      await close(rows, deliveries);
    },

    /**
     * Closes the sessions of deliveries that the provider refused because there was none, unless the person has written
     * since.
     */
    close: (deliveries: readonly Refused[]): Promise<void> => close(rows, deliveries),
  };
};

type Rows = Collection<SubscriptionRow>;

type Raised = { session_expires_at: Date; ad_clicked_at?: Date };

const begun = (at: Date, isFromAd: boolean): Raised => ({
  session_expires_at: sessionEnd(at),
  ...(isFromAd && { ad_clicked_at: at }),
});

type Raising<Message> = { messages: readonly Message[]; by: (message: Message) => Raised };

const raise = async <Message extends Wrote>(
  rows: Rows,
  { tenantId, appId }: OfApp,
  { messages, by }: Raising<Message>,
): Promise<void> => {
  if (messages.length === 0) return;
  await rows.bulkWrite(
    messages.map((message) => ({
      updateOne: {
        filter: { app_id: appId, channel: "whatsapp" as const, token: message.address, tenant_id: tenantId },
        update: { $max: by(message) },
      },
    })),
    { ordered: false },
  );
};

/** Prolongs the sessions of those who are answered first after an advertisement. Asks nothing for other channels. */
const answered = async (rows: Rows, deliveries: readonly Sent[]): Promise<void> => {
  const sent = new Map(
    deliveries.flatMap((row) =>
      row.channel === "whatsapp" && row.sent_at !== undefined ? [[row.subscription_id, row.sent_at] as const] : [],
    ),
  );
  if (sent.size === 0) return;
  const clicked = rows.find({ _id: { $in: [...sent.keys()] }, ad_clicked_at: { $gt: longAgo } });
  const prolonged = (await clicked.project<Known>(knownMembers).toArray()).flatMap((row) => {
    const end = adSessionEnd(row, sent.get(row._id) ?? longAgo);
    if (end === null) return [];
    const filter = { _id: row._id, ad_clicked_at: row.ad_clicked_at ?? longAgo };
    return [{ updateOne: { filter, update: { $max: { session_expires_at: end, ad_session_until: end } } } }];
  });
  if (prolonged.length > 0) await rows.bulkWrite(prolonged, { ordered: false });
};

const close = async (rows: Rows, deliveries: readonly Refused[]): Promise<void> => {
  const refused = new Map(
    deliveries.flatMap(({ subscription_id: id, error_code: code, failed_at: at }) =>
      code === "SESSION_CLOSED" && at !== undefined ? [[id, at] as const] : [],
    ),
  );
  if (refused.size === 0) return;
  const found = rows.find({ _id: { $in: [...refused.keys()] } });
  const closed = (await found.project<Known>(knownMembers).toArray()).flatMap((row) => {
    const at = refused.get(row._id);
    if (at === undefined || !isSessionRefused(row, at)) return [];
    const filter = { _id: row._id, session_expires_at: row.session_expires_at ?? null };
    return [{ updateOne: { filter, update: { $set: { session_expires_at: null } } } }];
  });
  if (closed.length > 0) await rows.bulkWrite(closed, { ordered: false });
};

type Known = Pick<SubscriptionRow, "_id" | "session_expires_at" | "ad_clicked_at" | "ad_session_until">;

const knownMembers = { session_expires_at: 1, ad_clicked_at: 1, ad_session_until: 1 };
