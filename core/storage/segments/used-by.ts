import type { Collection, Db } from "mongodb";
import { segmentLimits, type segmentUses } from "../../schema/segments/segment.ts";
import type { ExportRow } from "../exports/export-row.ts";
import { exportCollection } from "../exports/exports.ts";
import { type InAppMessageRow, inAppMessageCollection } from "../in-app-messages/in-app-messages.ts";
import type { MessageRow } from "../messages/message-row.ts";
import { messageCollection } from "../messages/messages.ts";
import { collectionOf } from "../mongo/collection.ts";
import { everyIdOf } from "../mongo/page-range.ts";
import type { SegmentRow } from "./segment-row.ts";

/** What names a segment. */
export type UsedBy = { type: (typeof segmentUses)[number]; id: string };

const mostUsers = 20; // as the interface shows them

/** Finds what names some segments, by their ids, at most 20 of each. */
export const segmentUsers = (db: Db, rows: Collection<SegmentRow>) => {
  const messages = collectionOf<MessageRow>(db, messageCollection);
  const inApp = collectionOf<InAppMessageRow>(db, inAppMessageCollection);
  const exports = collectionOf<ExportRow>(db, exportCollection);
  return async (appId: string, ids: readonly string[]): Promise<ReadonlyMap<string, UsedBy[]>> => {
    const [naming, waiting, shown, open] = await Promise.all([
      rows
        .find({ app_id: appId, names: { $in: [...ids] } }, usersOptions)
        .limit(segmentLimits.segments)
        .toArray(),
      messages
        .find({ app_id: appId, segment_ids: { $in: [...ids] }, status: "queued" }, waitingOptions)
        .limit(segmentLimits.segments)
        .toArray(),
      inApp
        .find({ app_id: appId, segment_ids: { $in: [...ids] } }, waitingOptions)
        .limit(segmentLimits.segments)
        .toArray(),
      exports
        .find({ app_id: appId, status: { $in: ["pending", "running"] }, _id: everyIdOf("export") }, openExports)
        .toArray(), // a few of an app
    ]);
    return usersOf(ids, [
      ...naming.map(({ _id, names }): Naming => ({ by: { type: "segment", id: _id }, names })),
      ...waiting.map(({ _id, segment_ids: names = [] }): Naming => ({ by: { type: "message", id: _id }, names })),
      ...shown.map(({ _id, segment_ids: names }): Naming => ({ by: { type: "in_app_message", id: _id }, names })),
      ...open.map(
        ({ _id, filters: { segment_id: id } }): Naming => ({
          by: { type: "export", id: _id },
          names: id === undefined ? [] : [id],
        }),
      ),
    ]);
  };
};

const usersOptions = { projection: { names: 1 }, hint: "names" };

const openExports = { projection: { "filters.segment_id": 1 }, hint: "status" };

const waitingOptions = { projection: { segment_ids: 1 }, hint: "segments" };

/** What names some segments. */
type Naming = { by: UsedBy; names: readonly string[] };

const usersOf = (ids: readonly string[], naming: readonly Naming[]): ReadonlyMap<string, UsedBy[]> => {
  const users = new Map(ids.map((id): [string, UsedBy[]] => [id, []]));
  for (const { by, names } of naming)
    for (const name of names) {
      const of = users.get(name);
      if (of !== undefined && of.length < mostUsers) of.push(by);
    }
  return users;
};
