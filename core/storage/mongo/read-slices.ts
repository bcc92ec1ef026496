import type { Collection, Document, Filter, FindCursor, WithId } from "mongodb";
import type { Within } from "./read-within.ts";

/** A list that an index has in order, and what of it is wanted. */
export type Sliced<Row extends Document> = {
  /** What finds the whole list, by members of the index alone. */
  of: Filter<Row>;
  /** The member that the index has behind those: text that no two documents of the list share. */
  by: keyof Row & string;
  range: Range;
  isDescending: boolean;
  /** The index, where another one finds some of what is looked for, too. */
  hint?: string;
  /** What is looked for in the list. */
  wanted: Filter<Row>;
  limit: number;
};

type Range = { $gt: string; $lt: string };

/** How many documents one query looks at, and how many such queries read one page. */
export type Slices = { size: number; most: number };

const usual: Slices = { size: 20_000, most: 10 }; // about half a second when nothing is found

/**
 * Reads a page of what no index finds: looks at one slice of the list after another until it has found enough, or has
 * looked at as much as one request may. What it has found by then is a shorter page, maybe an empty one, and `readTo`
 * says how far it has looked.
 */
export const readSlices = async <Row extends Document>(
  rows: Collection<Row>,
  { of, by, range, isDescending, hint, wanted, limit }: Sliced<Row>,
  signal: AbortSignal,
  { size, most }: Slices = usual,
): Promise<Within<WithId<Row>>> => {
  const find = (within: object, more: Filter<Row>): FindCursor<WithId<Row>> => {
    const filter = { ...of, [by]: within, ...more } as Filter<Row>; // sound: `by` is a member with text
    return rows.find(filter, { signal, ...(hint !== undefined && { hint }) }).sort({ [by]: isDescending ? -1 : 1 });
  };
  const endOf = async (rest: Range): Promise<string | undefined> => {
    const ends = find(rest, {}).project<Record<string, string>>({ _id: 0, [by]: 1 });
    return (
      await ends
        .skip(size - 1)
        .limit(1)
        .toArray()
    )[0]?.[by];
  };
  const found: WithId<Row>[] = [];
  let rest = range;
  for (let slice = 0; slice < most; slice++) {
    const end = await endOf(rest);
    const within = end === undefined ? rest : upTo(end, rest, isDescending);
    found.push(
      ...(await find(within, wanted)
        .limit(limit - found.length)
        .toArray()),
    );
    if (end === undefined || found.length === limit) return { rows: found, isWhole: true };
    rest = isDescending ? { ...rest, $lt: end } : { ...rest, $gt: end };
  }
  return { rows: found, isWhole: false, readTo: isDescending ? rest.$lt : rest.$gt };
};

/** From where a range begins to its document that is named, which is included. */
const upTo = (end: string, { $gt, $lt }: Range, isDescending: boolean): object =>
  isDescending ? { $gte: end, $lt } : { $gt, $lte: end };
