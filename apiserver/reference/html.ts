import { escaped } from "../http/markup.ts";

/** A name or value as code. */
export const code = (text: string): string => `<code>${escaped(text)}</code>`;

/** A value as JSON writes it, in one line. */
export const value = (given: unknown): string => code(JSON.stringify(given));

/** A text of the document, of whose Markdown grave accents and links are known, within one line. */
export const inline = (text: string): string =>
  escaped(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>');

/** A text with an empty line between its paragraphs. */
export const paragraphs = (text: string): string =>
  text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join("\n");

/** Code of several lines, which the script of the pages offers to copy. It wraps: nothing is cut off. */
export const block = (text: string): string => `<pre><code>${escaped(text)}</code></pre>`;

/** A list, or nothing when it has no items. */
export const list = (name: string, items: readonly string[]): string =>
  items.length === 0 ? "" : `<ul class="${name}">\n${items.map((item) => `<li>${item}</li>`).join("\n")}\n</ul>`;

/** What is shown when a reader asks for it. */
export const folded = (summary: string, content: string, attributes = ""): string =>
  `<details${attributes}><summary>${summary}</summary>\n${content}\n</details>`;
