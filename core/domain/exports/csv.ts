/** A column of a file: its name, and what of a row stands in it. */
export type Column<Row> = { name: string; of: (row: Row) => Cell };

/** Null and undefined are empty; instants are ISO 8601; objects and lists are JSON. */
export type Cell = string | number | boolean | Date | object | null | undefined;

/** What each file begins with: by it Excel knows that the text is UTF-8. */
export const byteOrderMark = "\uFEFF";

/** A cell as text that no spreadsheet takes for a formula, not yet quoted. Source: docs/reference/exports.md#cells. */
export const cellText = (value: Cell): string => {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return neutral(value);
  if (typeof value === "object") return value instanceof Date ? value.toISOString() : JSON.stringify(value); // begins with { or [
  return neutral(String(value));
};

/**
 * What would be a formula gets a quote in front: the rest is shown as text. So does what has such quotes already, so that
 * {@link plainCell} gives back any text as it was. Source: OWASP, "CSV Injection".
 */
const neutral = (text: string): string => (formula.test(text) ? `'${text}` : text);

const formula = /^'*[=+\-@\t\r\n]/;

/** A cell as its exporter meant it: without the quote that keeps a spreadsheet from taking it for a formula. */
export const plainCell = (cell: string): string => (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell);
