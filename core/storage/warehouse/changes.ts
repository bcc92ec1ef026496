import type { Collection, Document, Filter } from "mongodb";
import type { OfApp } from "../mongo/collection.ts";
import { sortedPage } from "../mongo/page-range.ts";
import type { ChangePlace } from "./runs.ts";

/** Which changes are read: of an app, between two instants (the second one not included), behind a place. */
export type ChangesAsked<Row> = {
  of: OfApp;
  from: Date;
  to: Date;
  after: ChangePlace | null;
  members: readonly string[];
  /** The member that has the instant of the change: the index `changed` has it behind the app and what else narrows. */
  by: keyof Row & string;
  narrowed?: Filter<Row>;
};

/** Rows in one page: some hundred KB. */
export const changePage = 1_000;

/**
 * Reads what changed, in the order of (instant of the change, id), page by page: a row that changes meanwhile moves to a
 * later window, and is read with that. Each page says where reading goes on behind it.
 */
export async function* changesOf<Row extends Document & { _id: string }>(
  rows: Collection<Row>,
  { of: { tenantId, appId }, from, to, after: begin, members, by, narrowed }: ChangesAsked<Row>,
): AsyncGenerator<Row[]> {
  const projection = Object.fromEntries([...members, by].map((member) => [member, 1]));
  for (let after = begin; ; ) {
    const place = after === null ? null : { value: after.at, id: after.id };
    const { filter, sort } = sortedPage(by, { after: place, isDescending: false });
    const range = { $gte: after === null || after.at < from ? from : after.at, $lt: to };
    const asked = { ...filter, app_id: appId, ...narrowed, tenant_id: tenantId, [by]: range } as unknown as Filter<Row>; // sound: rows of apps
    const cursor = rows.find<Row>(asked, { projection, hint: "changed", batchSize: changePage + 1 });
    const page: Row[] = await cursor.sort(sort).limit(changePage).toArray();
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < changePage) return;
    after = { at: last[by], id: last._id };
  }
}
