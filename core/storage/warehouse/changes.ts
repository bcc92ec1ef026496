import type { Collection, Document, Filter } from "mongodb";
import { farAhead, type OfApp } from "../mongo/collection.ts";
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

/**
 * Reads all that changed since the begin of a window and was made before its end, in the order of ids. What changes meanwhile
 * moves on in the index and is met again, but read once: the ids are collected first, the lowest ones up to a bound, and
 * then those behind them. Gives an empty page now and then while it collects, so that it can be told to stop.
 */
export async function* changedById<Row extends Document & { _id: string }>(
  rows: Collection<Row>,
  asked: ChangesAsked<Row>,
  mostIds = idsAtOnce,
): AsyncGenerator<Row[]> {
  const { of, to, members } = asked;
  const projection = Object.fromEntries([...members, asked.by].map((member) => [member, 1]));
  for (let behind = asked.after?.id ?? ""; ; ) {
    let ids: string[] = [];
    const scan = { ...asked, to: farAhead, after: null, members: ["created_at"] };
    for await (const page of changesOf(rows, scan)) {
      ids.push(...page.filter(({ _id, created_at: at }) => _id > behind && at < to).map(({ _id }) => _id));
      if (ids.length > 2 * mostIds) ids = lowest(ids, mostIds);
      yield [];
    }
    ids = lowest(ids, mostIds);
    for (let n = 0; n < ids.length; n += changePage) {
      const some = ids.slice(n, n + changePage);
      const filter = { _id: { $in: some }, app_id: of.appId, tenant_id: of.tenantId } as unknown as Filter<Row>; // sound: rows of apps
      const found = await rows.find<Row>(filter, { projection, batchSize: changePage + 1 }).toArray();
      yield found.sort((a, b) => (a._id < b._id ? -1 : 1));
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < mostIds) return;
    behind = last;
  }
}

/** Some 60 MB, with as many that are still to be sorted. */
const idsAtOnce = 500_000;

/** Each once, in order. */
const lowest = (ids: readonly string[], most: number): string[] =>
  ids
    .toSorted()
    .filter((id, n, sorted) => id !== sorted[n - 1])
    .slice(0, most);
