/** A column of a file: its name, and what of a row stands in it. */
export type Column<Row> = { name: string; of: (row: Row) => Cell };

/** Null and undefined are empty; instants are ISO 8601; objects and lists are JSON. */
export type Cell = string | number | boolean | Date | object | null | undefined;

/** What each file begins with: by it Excel knows that the text is UTF-8. */
export const byteOrderMark = "\uFEFF";

/** The names of the columns as a line. */
export const headOf = <Row>(columns: readonly Column<Row>[]): string => `${columns.map(({ name }) => name).join()}\r\n`;

/** Rows as lines (RFC 4180). No cell is taken for a formula by a spreadsheet: docs/reference/exports.md#cells. */
export const linesOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string => {
  let text = "";
  for (const row of rows) {
    let isFirst = true;
    for (const { of } of columns) {
      if (!isFirst) text += ",";
      isFirst = false;
      text += cellOf(of(row));
    }
    text += "\r\n";
  }
  return text;
};

const cellOf = (value: Cell): string => {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return quoted(neutral(value));
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "number") return neutral(String(value));
  return value instanceof Date ? value.toISOString() : quoted(JSON.stringify(value)); // begins with { or [
};

const [tab, lineFeed, carriageReturn, plus, minus, equals, at] = [0x09, 0x0a, 0x0d, 0x2b, 0x2d, 0x3d, 0x40];

/** What a spreadsheet would take for a formula gets a quote in front: it shows the rest as text. Source: OWASP, "CSV Injection". */
const neutral = (text: string): string => {
  switch (text.charCodeAt(0)) {
    case tab:
    case lineFeed:
    case carriageReturn:
    case plus:
    case minus:
    case equals:
    case at:
      return `'${text}`;
    default:
      return text;
  }
};

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
