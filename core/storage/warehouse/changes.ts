import type { Collection, Document, Filter } from "mongodb";
import type { OfApp } from "../mongo/collection.ts";
import { sortedPage } from "../mongo/page-range.ts";
import type { ChangePlace } from "./runs.ts";

/** Which changes are read: of an app, between two instants (the second one not included), behind a place. */
export type ChangesAsked = { of: OfApp; from: Date; to: Date; after: ChangePlace | null; members: readonly string[] };

/** Rows in one page: some hundred KB. */
export const changePage = 1_000;

/** The index that finds the changed rows of an app, in the order in which they changed. */
export const changeIndex = { key: { app_id: 1, updated_at: 1, _id: 1 }, name: "changed" } as const;

type Changed = Document & { _id: string; updated_at: Date };

/**
 * Reads what changed, in the order of (instant of the change, id), page by page: a row that changes meanwhile moves to a
 * later window, and is read with that.
 */
export async function* changesOf<Row extends Changed>(
  rows: Collection<Row>,
  { of: { tenantId, appId }, from, to, after: begin, members }: ChangesAsked,
): AsyncGenerator<Row[]> {
  const projection = Object.fromEntries([...members, "updated_at"].map((member) => [member, 1]));
  for (let after = begin; ; ) {
    const place = after === null ? null : { value: after.at, id: after.id };
    const { filter, sort } = sortedPage("updated_at", { after: place, isDescending: false });
    const range = { $gte: after === null || after.at < from ? from : after.at, $lt: to };
    const asked = { ...filter, app_id: appId, tenant_id: tenantId, updated_at: range } as unknown as Filter<Row>; // sound: rows of apps
    const cursor = rows.find<Row>(asked, { projection, hint: changeIndex.name, batchSize: changePage + 1 });
    const page: Row[] = await cursor.sort(sort).limit(changePage).toArray();
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < changePage) return;
    after = { at: last.updated_at, id: last._id };
  }
}
