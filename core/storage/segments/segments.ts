import type { Db } from "mongodb";
import type { SegmentDefinition } from "../../domain/segments/members.ts";
import { segmentLimits } from "../../schema/segments/segment.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { pageRange, type SortPosition, sortedPage } from "../mongo/page-range.ts";
import { type AppSettings, appSettings } from "../settings/app-settings.ts";
import type { SegmentRow } from "./segment-row.ts";
import { segmentUsers } from "./used-by.ts";

export const segmentCollection: CollectionSpec = {
  name: "segments",
  indexes: [
    { key: { app_id: 1, name: 1, _id: 1 }, name: "list_name" },
    { key: { app_id: 1, name: 1 }, name: "name", unique: true },
    { key: { app_id: 1, _id: 1 }, name: "list" },
    { key: { app_id: 1, names: 1 }, name: "names" },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { kept: "names nobody: who is on a list stands with the people" },
  retention: { kept: "until it is deleted" },
};

export type Segments = ReturnType<typeof appSegments>;

/** What the REST interface does to the segments of apps, and who reads what they mean. */
export const appSegments = (db: Db) => {
  const rows = collectionOf<SegmentRow>(db, segmentCollection);
  const settings: AppSettings<SegmentRow> = appSettings<SegmentRow>(db, segmentCollection, "list");
  return {
    ...settings,

    /** One page of an app's, by name or by id. */
    page: (
      { tenantId, appId }: OfApp,
      { after, sort, isDescending, limit }: SegmentPageAsked,
    ): Promise<SegmentRow[]> => {
      const of = { app_id: appId, tenant_id: tenantId };
      if (sort === "name") {
        const place = { after: typeof after === "string" ? null : after, isDescending };
        const page = sortedPage("name", place);
        return rows
          .find({ ...of, ...page.filter }, { hint: "list_name" })
          .sort(page.sort)
          .limit(limit)
          .toArray();
      }
      const place = { after: typeof after === "string" ? after : null, isDescending };
      const _id = pageRange("segment", {}, place);
      return rows
        .find({ ...of, _id }, { hint: "list" })
        .sort({ _id: isDescending ? -1 : 1 })
        .limit(limit)
        .toArray();
    },

    /** Those that have one of these ids or names. */
    called: (appId: string, named: readonly string[]): Promise<SegmentRow[]> => {
      const $in = [...new Set(named)];
      return Promise.all([
        rows.find({ app_id: appId, _id: { $in } }, { hint: "list" }).toArray(),
        rows.find({ app_id: appId, name: { $in } }, { hint: "name" }).toArray(),
      ]).then((found) => found.flat());
    },

    /** The segment of an app that has a name. */
    named: (appId: string, name: string): Promise<SegmentRow | null> =>
      rows.findOne({ app_id: appId, name }, { hint: "name" }),

    countOthers: (appId: string, exceptId: string): Promise<number> =>
      rows.countDocuments({ app_id: appId, _id: { $ne: exceptId } }, { hint: "list" }),

    findByName: ({ tenantId, appId }: OfApp, name: string): Promise<SegmentRow | null> =>
      rows.findOne({ app_id: appId, name, tenant_id: tenantId }, { hint: "name" }),

    /** What names these, by their ids, at most 20 of each. */
    usersOf: segmentUsers(db, rows),

    /**
     * The definitions of these segments and of all that they name. One that is gone is left out. @throws TooManySegments
     */
    definitions: (appId: string, ids: readonly string[]): Promise<Map<string, DefinitionRow>> =>
      definitions((some) => rows.find({ app_id: appId, _id: { $in: some } }, definitionOptions).toArray(), ids),
  };
};

/** Finds one of these segments that the app does not have, by its id; null when it has all of them. */
export const goneSegment =
  (db: Db) =>
  async (appId: string, ids: readonly string[]): Promise<string | null> => {
    const rows = collectionOf<SegmentRow>(db, segmentCollection);
    const filter = { app_id: appId, _id: { $in: [...ids] } };
    const options = { projection: { _id: 1 }, hint: "list", batchSize: ids.length + 1 };
    const found = new Set((await rows.find(filter, options).toArray()).map(({ _id }) => _id));
    return ids.find((id) => !found.has(id)) ?? null;
  };

type SegmentPageAsked = { after: string | SortPosition | null; sort: string; isDescending: boolean; limit: number };

/** What of a segment decides who is in it. */
export type DefinitionRow = SegmentDefinition & Pick<SegmentRow, "name" | "names">;

const definitionOptions = { projection: { name: 1, kind: 1, filter: 1, names: 1 }, hint: "list" };

/** More segments are named, or their filters are larger, than one question may read. */
export class TooManySegments extends Error {
  constructor() {
    super(
      `more than ${segmentLimits.named} segments are named one by another, or their filters have more than ${segmentLimits.namedBytes} bytes`,
    );
  }
}

const definitions = async (
  read: (ids: string[]) => Promise<DefinitionRow[]>,
  ids: readonly string[],
): Promise<Map<string, DefinitionRow>> => {
  const found = new Map<string, DefinitionRow>();
  const asked = new Set<string>();
  let next = [...new Set(ids)];
  let bytes = 0;
  while (next.length > 0) {
    for (const id of next) asked.add(id);
    if (asked.size > segmentLimits.named) throw new TooManySegments();
    const rows = await read(next);
    for (const row of rows) found.set(row._id, row);
    bytes += Buffer.byteLength(JSON.stringify(rows.map(({ filter }) => filter)));
    if (bytes > segmentLimits.namedBytes) throw new TooManySegments();
    next = [...new Set(rows.flatMap(({ names }) => names))].filter((id) => !asked.has(id));
  }
  return found;
};
