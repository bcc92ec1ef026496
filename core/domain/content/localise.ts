import type { Content } from "../../schema/messages/notification.ts";
import { localised } from "../messages/languages.ts";

/** A content with one text in the place of each map of languages: that which a language is shown. */
export const inLanguage = (content: Content, language: string | null): Content => {
  const { headings, contents, subtitle, rcs_fallback_text: fallback, rcs_card: card } = content;
  const chosen = { headings, contents, subtitle, rcs_fallback_text: fallback };
  return {
    ...content,
    ...mapsIn(chosen, language),
    ...(card && { rcs_card: { ...card, ...mapsIn({ title: card.title, description: card.description }, language) } }),
  };
};

/** One text stands for every language, whatever its key. */
const mapsIn = (maps: Record<string, Record<string, string> | undefined>, language: string | null) =>
  Object.fromEntries(
    Object.entries(maps).flatMap(([name, map]) => {
      const text = localised(map, language);
      return text === undefined ? [] : [[name, { en: text }]];
    }),
  );
