import type { Cell } from "#core/domain/exports/csv.ts";

/** A file in the making, in memory: a part is bounded before it is compressed. */
export type Encoder = {
  contentType: string;
  /** Adds the rows of a page; gives their size before compression, bytes. */
  add: (rows: readonly (readonly Cell[])[]) => Promise<number>;
  /** The whole file; the same rows give the same bytes. */
  end: () => Promise<Buffer>;
};

/** A value that its column cannot have: no file is made with another in its place. */
export class BadCell extends Error {}
