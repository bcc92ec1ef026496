/** A table of Markdown. A `|` in a cell is escaped. */
export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => "---"), ...rows].map((cells, i) => (i === 1 ? ruled(cells) : row(cells))).join("\n");

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

const ruled = (cells: readonly string[]): string => `|${cells.join("|")}|`;

export const code = (text: string): string => `\`${text}\``;

/** Names as code, with commas between them. */
export const codes = (names: readonly string[]): string => names.map(code).join(", ");

/** A number as people read it: `1,000`. */
export const figure = (value: number): string => value.toLocaleString("en");

/**
 * A page with the text between two of its marks replaced. Between them stands what follows from the code; around them
 * what people write. @throws Error when the page lacks the marks
 */
export const withTable = (page: string, name: string, text: string): string => {
  const [begin, end] = [`<!-- ${name}: written by make generate -->`, `<!-- end of ${name} -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`the page has no place for the table ${name}`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
};
