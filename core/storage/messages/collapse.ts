import { hash } from "node:crypto";
import type { Db } from "mongodb";
import { isReplaceable } from "../../channels/content.ts";
import { collectionOf } from "../mongo/collection.ts";
import { type ChunkRow, chunkCollection } from "./chunks.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import type { MessageRow } from "./message-row.ts";

/** What all deliveries of one collapse id to one subscription have in common: 132 bits of SHA-256. */
export const collapseKey = (collapseId: string, subscriptionId: string): string =>
  hash("sha256", `${subscriptionId}\n${collapseId}`, "base64url").slice(0, 22);

/** The keys of these recipients of a message that a later one may replace; none of another message. */
export const collapseKeys = (
  { options }: Pick<MessageRow, "options">,
  { channel }: Pick<ChunkRow, "channel">,
  subscriptionIds: readonly string[],
): string[] => {
  const { collapse_id: id = "" } = options;
  return isReplaceable(channel, options) ? subscriptionIds.map((one) => collapseKey(id, one)) : [];
};

/**
 * Of at most 500 keys those that messages accepted after this one have been sent under since it began, or wait to be sent
 * under again.
 */
export const newer = (db: Db) => {
  const sent = collectionOf<DeliveryRow>(db, deliveryCollection);
  const retries = collectionOf<ChunkRow>(db, chunkCollection);
  return async (message: MessageRow, keys: readonly string[]): Promise<ReadonlySet<string>> => {
    const [among, began] = [{ $in: [...keys] }, message.started_at ?? message.created_at];
    const isNewer = { message_id: { $gt: message._id } };
    const found = await Promise.all([
      sent.distinct("collapse_key", { collapse_key: among, ...isNewer, sent_at: { $gte: began } }),
      retries.distinct("collapse_keys", { collapse_keys: among, ...isNewer, dispatched_at: { $gte: began } }),
    ]);
    return new Set(found.flat().filter((key) => key !== undefined));
  };
};
