/** A record of a CSV file. `line`: where it begins, 1-based. `raw`: as it stands in the file, without its line end. */
export type CsvRow = { line: number; cells: string[]; raw: string; fault: string | null };

/** A file that cannot be read on from here. */
export class Unreadable extends Error {}

/** The longest row, in UTF-16 units: an unclosed quote makes one cell of what follows it. */
export const longestRow = 256 * 1024;

/**
 * Reads CSV (RFC 4180) in pieces of any size. A row ends with CRLF, LF or a lone CR; empty lines are passed over; a quote
 * in a cell that does not begin with one is text. docs/decisions/0082 says why this is no library.
 */
export const csvReader = () => {
  let text = ""; // from where a row begins
  let line = 1;
  const take = (isEnd: boolean): CsvRow[] => {
    const rows: CsvRow[] = [];
    let at = 0;
    for (let found = rowAt(text, at, isEnd); found !== null; found = rowAt(text, at, isEnd)) {
      const { cells, raw, fault, next } = found;
      if (raw !== "") rows.push({ line, cells, raw, fault });
      line += 1 + breaksIn(raw, cells);
      at = next;
    }
    text = text.slice(at);
    return rows;
  };
  return {
    /** The rows that a piece completes. @throws Unreadable when the next one is too long */
    read: (piece: string): CsvRow[] => {
      text += piece;
      const rows = take(false);
      if (text.length > longestRow) throw tooLong(line);
      return rows;
    },

    /** The row that no line end completes. */
    end: (): CsvRow[] => take(true),
  };
};

const tooLong = (line: number): Unreadable =>
  new Unreadable(`the row of line ${line} is longer than ${longestRow} characters, or a quote in it does not end`);

/** `next`: where the next row begins. */
type Found = Omit<CsvRow, "line"> & { next: number };

/** The row that begins there; null when it is not whole yet. */
const rowAt = (text: string, at: number, isEnd: boolean): Found | null => {
  if (at >= text.length) return null;
  const first = firstOf(quoteOrBreak, text, at);
  if (first >= 0 && text[first] === '"') return quotedRow(text, at, isEnd);
  const found = ended(text, { at, end: first, isEnd });
  return found && { ...found, cells: found.raw.split(","), fault: null };
};

const quoteOrBreak = /["\r\n]/g;
const commaOrBreak = /[,\r\n]/g;

const firstOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return pattern.exec(text)?.index ?? -1;
};

/** The row from `at` to its line end at `end`, which is negative when there is none. */
const ended = (text: string, { at, end, isEnd }: { at: number; end: number; isEnd: boolean }) => {
  if (end < 0) return isEnd ? { raw: text.slice(at), next: text.length } : null;
  if (text[end] === "\n") return { raw: text.slice(at, end), next: end + 1 };
  if (end + 1 === text.length && !isEnd) return null; // a line feed may follow
  return { raw: text.slice(at, end), next: text[end + 1] === "\n" ? end + 2 : end + 1 };
};

const quotedRow = (text: string, at: number, isEnd: boolean): Found | null => {
  const cells: string[] = [];
  let fault: string | null = null;
  for (let from = at; ; ) {
    const cell = cellAt(text, from, isEnd);
    if (cell === null) return null;
    cells.push(cell.value);
    fault ??= cell.fault;
    if (text[cell.end] === ",") {
      from = cell.end + 1;
      continue;
    }
    const found = ended(text, { at, end: cell.end < text.length ? cell.end : -1, isEnd });
    return found && { ...found, cells, fault };
  }
};

/** `end`: where its comma or line end is, or the end of the text. */
type Cell = { value: string; end: number; fault: string | null };

const cellAt = (text: string, from: number, isEnd: boolean): Cell | null => {
  const quoted = text[from] === '"' ? quotedAt(text, from, isEnd) : { value: "", behind: from };
  if (quoted === null) return null;
  if (quoted.behind < 0) return { value: quoted.value, end: text.length, fault: "a quoted cell does not end" };
  const end = firstOf(commaOrBreak, text, quoted.behind);
  if (end < 0 && !isEnd) return null;
  const rest = text.slice(quoted.behind, end < 0 ? text.length : end);
  const fault = text[from] === '"' && rest !== "" ? "text follows the closing quote of a cell" : null;
  return { value: quoted.value + rest, end: end < 0 ? text.length : end, fault };
};

/** What is between quotes, and where the text behind them begins: negative when they are never closed. */
const quotedAt = (text: string, open: number, isEnd: boolean): { value: string; behind: number } | null => {
  let value = "";
  for (let from = open + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return isEnd ? { value: value + text.slice(from), behind: -1 } : null;
    if (quote + 1 === text.length && !isEnd) return null; // it may be doubled
    if (text[quote + 1] !== '"') return { value: value + text.slice(from, quote), behind: quote + 1 };
    value += text.slice(from, quote + 1);
    from = quote + 2;
  }
};

/** Line ends within a row: only quoted cells have them. */
const breaksIn = (raw: string, cells: readonly string[]): number =>
  cells.some((cell) => /[\r\n]/.test(cell)) ? (raw.match(/\r\n|\n|\r/g)?.length ?? 0) : 0;
