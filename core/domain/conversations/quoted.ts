/** What a mail says, and what it repeats below of the mails before it. */
export type Parted = { text: string; quoted: string | null };

/**
 * Parts a mail's text from what it quotes: from the line on with which a mail program introduces it, and lines with `>` at
 * the end. What is quoted above or between answers stays: it is a part of these. A text that is nothing else stays whole.
 */
export const partedText = (given: string): Parted => {
  const all = given.replaceAll("\r\n", "\n");
  const lines = all.split("\n");
  const at = quotedFrom(lines);
  const text = lines.slice(0, at).join("\n").trim();
  const quoted = lines.slice(at).join("\n").trim();
  return text === "" || quoted === "" ? { text: all.trim(), quoted: null } : { text, quoted };
};

/** The number of the line from which on everything is quoted. */
const quotedFrom = (lines: readonly string[]): number => {
  const introduced = lines.findIndex((_, n) => isIntroduction(lines, n));
  const last = lines.findLastIndex((line) => line.trim() !== "" && !isQuoted(line));
  const trailing = last + 1 < lines.length && lines.slice(last + 1).some(isQuoted) ? last + 1 : lines.length;
  return introduced === -1 ? trailing : Math.min(introduced, trailing);
};

const isQuoted = (line: string): boolean => line.startsWith(">");

const mostLineLength = 300; // an introduction is short

/** A line, or two of which the second is its end, behind which only quoted text comes. */
const isIntroduction = (lines: readonly string[], n: number): boolean => {
  const line = (lines[n] ?? "").trim();
  if (line.length > mostLineLength) return false;
  if (separators.some((pattern) => pattern.test(line))) return true;
  if (/^_{20,}$/.test(line)) return isHeader(lines[n + 1] ?? "");
  const both = `${line} ${(lines[n + 1] ?? "").trim()}`.slice(0, mostLineLength);
  const after = wrote.test(line) ? n + 1 : begins.test(line) && wrote.test(both) ? n + 2 : null;
  return after !== null && followsQuoted(lines, after);
};

/** "On … wrote:" may be said by the person: it introduces only where quoted lines follow. */
const followsQuoted = (lines: readonly string[], from: number): boolean => {
  const next = lines.slice(from, from + 3).find((line) => line.trim() !== "");
  return next !== undefined && isQuoted(next);
};

/** As Outlook and others write them, in the languages in which most mails are. */
const separators = [
  /^-{2,} ?(original message|forwarded message|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale) ?-{2,}$/i,
];
const isHeader = (line: string): boolean => /^\*?(from|von|de|da)\s?:\*?\s/i.test(line.trim());
const begins = /^(on|am|le|el|il)\s/i;
const wrote = /^(on|am|le|el|il)\s.{5,280}(wrote|schrieb|écrit|escribió|ha scritto).{0,80}:$/i;
