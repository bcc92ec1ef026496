import { AppError, NotFound } from "#core/errors.ts";

export type WriteAsIs<Row, T> = {
  /** The thing in words, e.g. `webhook`. */
  what: string;
  /** As it was found. */
  found: Row;
  /** Reads it again; null when it is gone. */
  reread: (row: Row) => Promise<Row | null>;
  /** Writes to it as it was read; null when another was quicker. */
  attempt: (row: Row) => Promise<T | null>;
};

const attempts = 5; // each lost to another writer of the same thing

/**
 * Writes to something as it is now, again when another was quicker.
 * @throws NotFound when it is gone; AppError HS_CONFLICT when others change it all the time
 */
export const writeAsIs = async <Row, T>({ what, found, reread, attempt }: WriteAsIs<Row, T>): Promise<T> => {
  let row: Row | null = found;
  for (let n = 0; n < attempts; n++) {
    if (row === null) throw new NotFound(what);
    const written = await attempt(row);
    if (written !== null) return written;
    row = await reread(row);
  }
  throw new AppError("HS_CONFLICT", `the ${what} is being changed by others at the same moment`, { status: "busy" });
};

/** The instant of a change, ahead of the last one's: it tells versions apart. */
export const laterThan = (before: Date, now: Date): Date => (now > before ? now : new Date(before.getTime() + 1));
