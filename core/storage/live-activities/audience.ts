import type { Db } from "mongodb";
import { audience } from "../messages/audience.ts";
import type { MessageActivity } from "../messages/message-row.ts";
import type { AppStretch } from "../people/subscription-counts.ts";
import { activityRecipients } from "./recipients.ts";
import { startTokens } from "./start-tokens.ts";

type Page = AppStretch & { after: string; limit: number };

/**
 * Ids of the subscriptions of a channel that a message about a live activity goes to, a page in their order. A broadcast
 * channel stands for all devices of iOS that are subscribed to it.
 */
export const activityAudience = (db: Db) => {
  const [people, tokens, recipients] = [audience(db), startTokens(db), activityRecipients(db)];
  return async (of: Page, live: MessageActivity): Promise<string[]> => {
    const { appId, channel, after, limit } = of;
    const { type_id: typeId, activity } = live;
    if (live.event === "start")
      return channel === "ios_push" ? tokens.page({ appId, typeId }, after, limit) : people.page(of);
    if (live.channel === undefined || channel !== "ios_push")
      return recipients.page({ appId, activity, channel }, after, limit);
    return after < live.channel.id ? [live.channel.id] : [];
  };
};
