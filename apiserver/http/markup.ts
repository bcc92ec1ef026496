/** A text as HTML and XML write it, in elements and in attributes. Characters that XML cannot have are left out. */
export const escaped = (text: string): string =>
  text.replace(forbidden, "").replace(/[&<>"]/g, (character) => escapes[character] ?? character);

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** What XML 1.0 2.2 leaves out. */
const forbidden = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
