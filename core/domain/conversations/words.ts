import { dayMs } from "../durations.ts";

/** How far back texts are searched. Source: docs/reference/conversations.md#search. */
export const searchDays = 90;

const mostWords = 30; // of a text
const mostLetters = 32; // of a word
const weekMs = 7 * dayMs;

/** The words of a text as they are searched: letters and digits in small letters without accents, the first 30. */
export const wordsOf = (text: string): string[] => {
  const plain = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const words = (plain.match(/[\p{L}\p{N}]{2,}/gu) ?? []).map((word) => word.slice(0, mostLetters));
  return [...new Set(words)].slice(0, mostWords);
};

/** The same as a message keeps them: each with the week, so that one query looks at those of a week alone. */
export const searchKeys = (text: string, at: Date): string[] => wordsOf(text).map((word) => keyOf(weekOf(at), word));

/** What messages of each week are searched by, the latest first. */
export const searchedBy = (words: readonly string[], now: Date): string[][] => {
  const weeks = Math.ceil(searchDays / 7) + 1;
  return Array.from({ length: weeks }, (_, back) => words.map((word) => keyOf(weekOf(now) - back, word)));
};

const weekOf = (at: Date): number => Math.floor(at.getTime() / weekMs);

const keyOf = (week: number, word: string): string => `${week} ${word}`;
