import type { Db } from "mongodb";
import type { MessageActivity } from "../messages/message-row.ts";
import { activityRecipients } from "./recipients.ts";
import { startTokens } from "./start-tokens.ts";

type Page = { appId: string; after: string; limit: number };

/** Ids of the subscriptions that a message about a live activity goes to, a page in their order. */
export const activityAudience = (db: Db) => {
  const [tokens, recipients] = [startTokens(db), activityRecipients(db)];
  return ({ appId, after, limit }: Page, { event, type_id: typeId, activity }: MessageActivity): Promise<string[]> =>
    event === "start"
      ? tokens.page({ appId, typeId }, after, limit)
      : recipients.page({ appId, activity }, after, limit);
};
