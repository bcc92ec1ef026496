import type { Db } from "mongodb";
import { type AppRow, appCollection } from "../apps/apps.ts";
import { collectionOf, longAgo } from "../mongo/collection.ts";
import { idsBehind, pageRange } from "../mongo/page-range.ts";
import { findIds } from "../mongo/pages.ts";
import { removePages } from "../work/removal-pages.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import { type MessageRow } from "./message-row.ts";
import { messageCollection } from "./messages.ts";

const page = 500; // messages in one filter, apps in one look
const deliveryPages = 20; // in one call, some seconds: its caller looks whether it is still to go on

/** Removes what is older than its plan keeps. */
export const retention = (db: Db) => {
  const messages = collectionOf<MessageRow>(db, messageCollection);
  const apps = collectionOf<AppRow>(db, appCollection);
  const deliveries = collectionOf<DeliveryRow>(db, deliveryCollection);
  const ofPlanAfter = (name: string): Promise<MessageRow | null> =>
    messages.findOne({ plan: { $gt: name } }, { projection: { plan: 1 }, sort: { plan: 1 }, hint: "retention" });
  const remove = async (ids: string[]): Promise<Removed> => {
    if (ids.length === 0) return { removed: 0, isMore: false };
    const filter = { message_id: { $in: ids } };
    const isEmpty = await removePages(deliveries, { filter, hint: "list", pages: deliveryPages });
    if (!isEmpty) return { removed: 0, isMore: true };
    await messages.deleteMany({ _id: { $in: ids } });
    return { removed: ids.length, isMore: ids.length === page };
  };
  return {
    /** The plans that messages were accepted under, also those that are gone: a handful, each found by one look. */
    planNames: async (): Promise<string[]> => {
      const names: string[] = [];
      for (let row = await ofPlanAfter(""); row !== null; row = await ofPlanAfter(row.plan)) names.push(row.plan);
      return names;
    },

    /**
     * Removes the oldest messages of a plan that ended before an instant, deliveries first, so that a kill leaves no
     * delivery without its message: a page of messages, or a part of their deliveries. Call again while there is more.
     */
    removeOldest: async (plan: string, before: Date): Promise<Removed> => {
      const ended = { plan, completed_at: { $gt: longAgo, $lte: before } };
      return remove(await findIds(messages, ended, { sort: { completed_at: 1 }, limit: page }));
    },

    /** The same for an app that keeps its messages for a shorter time. What ended before an instant was made before it. */
    removeOldestOf: async (appId: string, before: Date): Promise<Removed> => {
      const made = pageRange("message", { to: before }, { after: null, isDescending: false });
      const ended = { app_id: appId, _id: made, completed_at: { $gt: longAgo, $lte: before } };
      return remove(await findIds(messages, ended, { hint: "list", sort: { _id: 1 }, limit: page }));
    },

    /** Those of a page of the apps behind an id that say how long they keep messages; `last`: the page's last app, null behind all. */
    appsAfter: async (after: string): Promise<{ apps: { appId: string; days: number }[]; last: string | null }> => {
      const found = await apps
        .find({ _id: idsBehind("app", after) }, { projection: { retention_days: 1 } })
        .sort({ _id: 1 })
        .limit(page)
        .toArray();
      const own = found.flatMap(({ _id, retention_days: days }) => (days ? [{ appId: _id, days }] : []));
      return { apps: own, last: found.at(-1)?._id ?? null };
    },
  };
};

type Removed = { removed: number; isMore: boolean };
