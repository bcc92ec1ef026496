import type { Db } from "mongodb";
import { gather } from "../../runtime/batching/gather.ts";
import type { InAppEvent } from "../../schema/in-app-messages/device.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";

/** Something that a person did with an in-app message, for exports. Its id is that of the event that tells of it. Written once. */
export type InAppEventRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  message_id: string;
  variant_id: string;
  subscription_id: string;
  user_id: string;
  external_id: string | null;
  channel: Channel;
  type: InAppEvent["type"];
  page_id: string | null;
  click_id: string | null;
  at: Date;
};

export const inAppEventsKeptDays = 400;

export const inAppEventCollection: CollectionSpec = {
  name: "in_app_events",
  indexes: [
    { key: { app_id: 1, at: 1, _id: 1 }, name: "changed" },
    { key: { app_id: 1, user_id: 1 }, name: "person" },
    { key: { at: 1 }, name: "retention", expireAfterSeconds: inAppEventsKeptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "changed" },
  erasure: { member: "user_id" },
  retention: { index: "retention" },
};

export type InAppEvents = ReturnType<typeof inAppEvents>;

const batch = { most: 200, inFlight: 1, isOfTurn: true };

export const inAppEvents = (db: Db) => {
  const rows = collectionOf<InAppEventRow>(db, inAppEventCollection);
  const write = async (made: readonly InAppEventRow[]): Promise<null[]> => {
    const once = [...new Map(made.map((row) => [row._id, row])).values()];
    await retryConflicts(() => insertMissing(rows, once));
    return made.map(() => null);
  };
  return {
    /** Stored when this resolves, unless it was before; those that come at once in one write. */
    keep: gather({ write, ...batch }),
  };
};
