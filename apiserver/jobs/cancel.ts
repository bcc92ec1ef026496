import { AppError } from "#core/errors.ts";

/** Long work that a request may end. */
type Cancellable<Row> = {
  /** In words, such as `export`. */
  what: string;
  row: Row;
  /** What its `error` says once it was cancelled. */
  error: string;
  /** Ends it; null when it has ended already. */
  end: () => Promise<Row | null>;
};

/** Cancels it; what was cancelled before stays so. @throws AppError HS_CONFLICT when it has ended otherwise */
export const cancelJob = async <Row extends { status: string; error: string | null }>({
  what,
  row,
  error,
  end,
}: Cancellable<Row>): Promise<Row> => {
  if (row.error === error) return row;
  const ended = await end();
  if (ended === null) throw new AppError("HS_CONFLICT", `the ${what} has ended`, { status: row.status });
  return ended;
};
