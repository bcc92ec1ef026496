import type { Db } from "mongodb";
import { liveActivitySize } from "#core/channels/live-activity-size.ts";
import { activities } from "#core/storage/live-activities/activities.ts";
import { activityAudience } from "#core/storage/live-activities/audience.ts";
import { activityRecipients } from "#core/storage/live-activities/recipients.ts";
import { startTokens } from "#core/storage/live-activities/start-tokens.ts";
import { audience } from "#core/storage/messages/audience.ts";
import { liveActivityMessages } from "#core/storage/messages/live-activities.ts";
import type { MessageActivity } from "#core/storage/messages/message-row.ts";
import { receiptStore } from "#core/storage/messages/receipts.ts";
import { waitingDeliveries } from "#core/storage/messages/waiting.ts";
import type { Work } from "../messages/delivery/work.ts";

export type ActivityStores = ReturnType<typeof activityStores>;

/** What sending live activities needs of what is stored. */
export const activityStores = (db: Db) => ({
  activities: activities(db),
  sent: liveActivityMessages(db),
  activityAudience: activityAudience(db),
  recipients: audience(db),
  startTokens: startTokens(db),
  activityRecipients: activityRecipients(db),
  waiting: waitingDeliveries(db),
  recount: receiptStore(db).recount,
  fits: (live: MessageActivity, { chunk, message: { content, created_at: at } }: Work): boolean => {
    const { bytes, maxBytes } = liveActivitySize(chunk.channel, { ...live, at }, content);
    return bytes <= maxBytes;
  },
});
