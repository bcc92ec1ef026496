import type { Content } from "../../schema/messages/notification.ts";

/** Whether what is shown depends on the recipient's language. */
export const isTranslated = (content: Content): boolean =>
  textsOf(content).some((texts) => Object.keys(texts).length > 1);

/** Everything that is said in several languages. */
const textsOf = ({ headings, contents, subtitle, rcs_card: card, rcs_fallback_text: fallback }: Content) =>
  [headings, contents, subtitle, card?.title, card?.description, fallback].filter((texts) => texts !== undefined);

/** The text for a language. Source: docs/reference/messages.md#languages. */
export const localised = (texts: Record<string, string> | undefined, language: string | null): string | undefined => {
  if (texts === undefined) return undefined;
  const keys = new Map(Object.keys(texts).map((key) => [key.toLowerCase(), key]));
  const wanted = language?.toLowerCase() ?? "";
  const key = keys.get(wanted) ?? keys.get(baseOf(wanted)) ?? keys.get("en") ?? Object.keys(texts)[0];
  return key === undefined ? undefined : texts[key];
};

/** Every language that can make a difference to a push; null, the first, stands for all others. */
export const languagesOf = (content: Content): (string | null)[] => [
  null,
  ...new Set(textsOf(content).flatMap((texts) => Object.keys(texts))),
];

const baseOf = (language: string): string => language.split("-", 1)[0] ?? "";
