import type { Db } from "mongodb";
import { idPrefixes } from "../schema/vocabulary/id-prefixes.ts";
import { allCollections } from "./collections.ts";
import { collectionOf, type Person } from "./mongo/collection.ts";
import { findIds, inPages, type OnPage } from "./mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "./people/subscription-row.ts";
import { segmentLists } from "./segments/lists.ts";
import { type WebhookDeliveryRow, webhookDeliveryCollection } from "./webhooks/deliveries.ts";
import { removePages } from "./work/removal-pages.ts";

export type StoredData = ReturnType<typeof storedData>;

/** Removes and erases what collections hold, each as it declares. Every verb may run twice. */
export const storedData = (db: Db, specs = allCollections) => ({
  /**
   * Removes the documents of an app whose own document is gone; how many must wait for a later call.
   * @throws what `onPage` throws
   */
  removeApp: async (appId: string, now: Date, onPage?: OnPage): Promise<number> => {
    for (const { name, appRemoval } of specs) {
      if (!("index" in appRemoval)) continue;
      const rows = db.collection<{ _id: string; app_id: string }>(name);
      await removePages(rows, { filter: { app_id: appId }, hint: appRemoval.index, pages: Infinity, onPage });
    }
    let waiting = 0; // last: what needs a function of its own may take many calls
    for (const { appRemoval } of specs)
      if ("remove" in appRemoval) waiting += await appRemoval.remove(db, { appId, now }, onPage);
    return waiting;
  },

  /** Removes what was sent to an endpoint whose own document is gone. @throws as removeApp */
  removeWebhook: async (endpointId: string, onPage?: OnPage): Promise<void> => {
    const rows = collectionOf<WebhookDeliveryRow>(db, webhookDeliveryCollection);
    await removePages(rows, { filter: { endpoint_id: endpointId }, hint: "list_status", pages: Infinity, onPage });
  },

  /** Takes everybody from the list of a segment whose own document is gone. @throws as removeApp */
  emptyList: segmentLists(db).empty,

  /** Removes the documents that are a person's own: first those of subscriptions, which say whose these are. */
  removePerson: async (person: Owner): Promise<void> => {
    const of = { app_id: person.appId, tenant_id: person.tenantId };
    const subscriptions = await subscriptionsOf(db, person);
    for (const { name, erasure } of specs)
      if ("subscription" in erasure && subscriptions.length > 0)
        await db.collection(name).deleteMany({ ...of, [erasure.subscription]: { $in: subscriptions } });
    for (const { name, erasure } of specs)
      if ("member" in erasure) await db.collection(name).deleteMany({ [erasure.member]: person.userId, ...of });
  },

  /**
   * Erases a person from documents in which they are named; how many must wait for a later call.
   * @throws what `onPage` throws
   */
  erasePerson: async (person: Person, onPage?: OnPage): Promise<number> => {
    let waiting = 0;
    for (const { erasure } of specs) if ("erase" in erasure) waiting += await erasure.erase(db, person, onPage);
    return waiting;
  },
});

type Owner = Pick<Person, "tenantId" | "appId" | "userId" | "keys">;

/**
 * Ids of the subscriptions that a person has, and of those that they had when they were deleted (a hundred or so): by then
 * these are gone, unless they have moved to another user.
 */
const subscriptionsOf = async (db: Db, { appId, userId, keys }: Owner): Promise<string[]> => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const written = [...keys].filter((key) => key.startsWith(`${idPrefixes.subscription}_`));
  const [owned, moved] = await Promise.all([
    findIds(rows, { app_id: appId, user_id: userId }, { hint: "user" }),
    inPages(written, pageIds, (page) => findIds(rows, { _id: { $in: page }, user_id: { $ne: userId } })),
  ]);
  const others = new Set(moved);
  return [...new Set([...owned, ...written])].filter((id) => !others.has(id));
};

const pageIds = 500; // in one filter
