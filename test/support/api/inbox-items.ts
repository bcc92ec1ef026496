import { newId } from "#core/domain/ids.ts";
import { type InboxRow, inboxes, inboxItemId } from "#core/storage/inbox/inboxes.ts";
import type { InboxItemRow } from "#core/storage/inbox/items.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { Installation } from "./api.ts";
import type { SeededDevice } from "./devices.ts";

const hourMs = 3_600_000;

/** An item of a message of its own, for a device's person. */
export const anItem = (
  { subscription: { user_id: userId, tenant_id, app_id } }: Pick<SeededDevice, "subscription">,
  title: string,
  now = new Date(),
  messageId = newId("message", now),
): InboxItemRow => {
  return {
    _id: inboxItemId(messageId, userId),
    tenant_id,
    app_id,
    user_id: userId,
    message_id: messageId,
    category: null,
    title,
    body: null,
    image_url: null,
    url: null,
    data: {},
    actions: [],
    created_at: now,
    expires_at: new Date(now.getTime() + hourMs),
  };
};

/** Leaves items as messages do, the last the newest; gives their ids, the newest first. */
export const leaveItems = async (
  site: Pick<Installation, "db">,
  device: SeededDevice,
  { count, most = 1_000 }: { count: number; most?: number },
): Promise<string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const now = new Date(Date.now() - (count - n) * 1_000);
    const item = anItem(device, `Title ${n}`, now);
    await inboxes(site.db).add(ofRow(device.subscription), { messageId: item.message_id, items: [item], most, now });
    ids.unshift(item._id);
  }
  return ids;
};

/** Leaves an item as a message does that was sent at an instant; gives its id. */
export const leaveItem = async (
  { db }: Pick<Installation, "db">,
  device: Pick<SeededDevice, "subscription">,
  at: Date,
) => {
  const item = anItem(device, "An order", at);
  await inboxes(db).add(ofRow(device.subscription), {
    messageId: item.message_id,
    items: [item],
    most: 1_000,
    now: at,
  });
  return item._id;
};

/** Writes an inbox as so many messages leave it, the last the newest; gives the ids of its items, the newest first. */
export const fillInbox = async (
  { db }: Pick<Installation, "db">,
  device: Pick<SeededDevice, "subscription">,
  count: number,
): Promise<string[]> => {
  const { user_id, tenant_id, app_id } = device.subscription;
  const items = Array.from({ length: count }, (_, n) => anItem(device, `Order ${n}`, new Date(Date.now() - count + n)));
  const entries = items.map(({ message_id, created_at: at, expires_at }) => ({ message_id, at, expires_at }));
  await db.collection<InboxItemRow>("inbox_items").insertMany(items, { ordered: false });
  await db.collection<InboxRow>("inboxes").insertOne({
    _id: user_id,
    tenant_id,
    app_id,
    revision: count,
    entries,
    unread: count,
    unseen: count,
    next_expiry: items[0]?.expires_at ?? new Date(),
    updated_at: new Date(),
  });
  return items.map(({ _id }) => _id).reverse();
};
