import type { Content } from "../../schema/messages/notification.ts";

/** Whether what is shown depends on the recipient's language. */
export const isTranslated = ({ headings, contents, subtitle }: Content): boolean =>
  [headings, contents, subtitle].some((texts) => texts !== undefined && Object.keys(texts).length > 1);

/** The text for a language. Source: docs/reference/messages.md#languages. */
export const localised = (texts: Record<string, string> | undefined, language: string | null): string | undefined => {
  if (texts === undefined) return undefined;
  const keys = new Map(Object.keys(texts).map((key) => [key.toLowerCase(), key]));
  const wanted = language?.toLowerCase() ?? "";
  const key = keys.get(wanted) ?? keys.get(baseOf(wanted)) ?? keys.get("en") ?? Object.keys(texts)[0];
  return key === undefined ? undefined : texts[key];
};

/** Every language that can make a difference to a push; null, the first, stands for all others. */
export const languagesOf = ({ headings, contents, subtitle }: Content): (string | null)[] => [
  null,
  ...new Set([headings, contents, subtitle].flatMap((texts) => Object.keys(texts ?? {}))),
];

const baseOf = (language: string): string => language.split("-", 1)[0] ?? "";
