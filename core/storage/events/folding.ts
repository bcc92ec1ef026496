import { setTimeout as sleep } from "node:timers/promises";
import type { AnyBulkWriteOperation, Collection, Filter } from "mongodb";
import { Unavailable } from "../../errors.ts";
import { duplicatesOf, isWriteConflict } from "../mongo/duplicate.ts";
import { inPages } from "../mongo/pages.ts";

/** A document that batches add to, each of them once. */
export type FoldedRow = {
  _id: string;
  /** Grows with every change. */
  revision: number;
  /** What has been added and may come again: those that are known as counted are left out with the next change. */
  batches: string[];
};

/** What one batch adds to one document. */
export type Share<Change> = { batch: string; change: Change };

export type FoldChange<Row, Change> = {
  /** What it is before anything was added. */
  first: Row;
  shares: readonly Share<Change>[];
};

export type Folding<Row extends FoldedRow, Change> = {
  rows: Collection<Row>;
  /** The document with some changes more. */
  fold: (row: Row, changes: readonly Change[]) => Row;
  /** Those of these batches that never come again. */
  counted: (batches: readonly string[]) => Promise<ReadonlySet<string>>;
};

const attempts = 12; // each lost to another process that changes one of the same documents
const pauseMs = 20;
const page = 100; // documents in one read and one write

/**
 * Adds batches to documents, each batch once, however often it comes: a document names the batches that it has, and changes
 * only as it was read. Gives the documents as they are then. Source: docs/decisions/0070.
 * @throws Unavailable when others change them all the time
 */
export const foldInto = async <Row extends FoldedRow, Change>(
  folding: Folding<Row, Change>,
  wanted: readonly FoldChange<Row, Change>[],
): Promise<Row[]> => inPages(inOrder(wanted), page, (some) => foldPage(folding, some));

/** In one order, so that writers who meet wait for each other and not in a circle. */
const inOrder = <Row extends FoldedRow, Change>(
  wanted: readonly FoldChange<Row, Change>[],
): FoldChange<Row, Change>[] => wanted.toSorted((a, b) => (a.first._id < b.first._id ? -1 : 1));

const foldPage = async <Row extends FoldedRow, Change>(
  folding: Folding<Row, Change>,
  wanted: readonly FoldChange<Row, Change>[],
): Promise<Row[]> => {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const steps = await stepsOf(folding, wanted);
    const changed = steps.filter(({ before, after }) => after.revision !== (before?.revision ?? 0));
    if (await areWritten(folding.rows, changed)) return steps.map(({ after }) => after);
    await sleep(pauseMs * attempt * (0.5 + Math.random()));
  }
  throw new Unavailable("roll-ups that others change all the time");
};

type Step<Row> = { before: Row | null; after: Row };

const stepsOf = async <Row extends FoldedRow, Change>(
  { rows, fold, counted }: Folding<Row, Change>,
  wanted: readonly FoldChange<Row, Change>[],
): Promise<Step<Row>[]> => {
  const ids = wanted.map(({ first }) => first._id);
  const filter = { _id: { $in: ids } } as Filter<Row>; // sound: every `_id` is a string
  const found = (await rows.find(filter, { batchSize: page + 1 }).toArray()) as unknown as Row[]; // without a projection it is the whole row
  const stored = new Map(found.map((row) => [row._id, row]));
  // Asked after the documents were read: a batch that another has counted, and left out of them since, is seen here.
  const named = [
    ...found.flatMap(({ batches }) => batches),
    ...wanted.flatMap((one) => one.shares.map(({ batch }) => batch)),
  ];
  const gone = await counted([...new Set(named)]);
  return wanted.map(({ first, shares }) => {
    const before = stored.get(first._id) ?? null;
    return { before, after: withShares(before ?? first, shares, { fold, gone }) };
  });
};

const withShares = <Row extends FoldedRow, Change>(
  before: Row,
  shares: readonly Share<Change>[],
  { fold, gone }: Pick<Folding<Row, Change>, "fold"> & { gone: ReadonlySet<string> },
): Row => {
  const had = new Set(before.batches);
  const fresh = shares.filter(({ batch }) => !had.has(batch) && !gone.has(batch));
  if (fresh.length === 0) return before;
  const changes = fresh.map(({ change }) => change);
  const batches = [...before.batches.filter((one) => !gone.has(one)), ...fresh.map(({ batch }) => batch)];
  return { ...fold(before, changes), batches, revision: before.revision + 1 };
};

/** Whether all are written: false when one was changed, or made, by another meanwhile. */
const areWritten = async <Row extends FoldedRow>(
  rows: Collection<Row>,
  changed: readonly Step<Row>[],
): Promise<boolean> => {
  if (changed.length === 0) return true;
  try {
    const { matchedCount, insertedCount } = await rows.bulkWrite(changed.map(writeOf), { ordered: false });
    return matchedCount + insertedCount === changed.length;
  } catch (error) {
    if (!isWriteConflict(error)) duplicatesOf(error, []); // throws what is neither
    return false;
  }
};

const writeOf = <Row extends FoldedRow>({ before, after }: Step<Row>): AnyBulkWriteOperation<Row> => {
  if (before === null) return { insertOne: { document: after as never } }; // sound: a Row with its id
  const { _id, ...replacement } = after;
  const filter = { _id, revision: before.revision } as unknown as Filter<Row>; // sound: Row has both
  return { replaceOne: { filter, replacement } };
};
