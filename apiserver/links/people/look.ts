import { settingsOf } from "#core/domain/apps/settings.ts";
import { type PageLanguage, pageLanguages } from "#core/schema/apps/pages.ts";
import type { SettingValues } from "#core/schema/apps/settings.ts";
import { type Texts, texts } from "./texts.ts";

/** How a page is shown to one reader. */
export type Look = {
  language: PageLanguage;
  texts: Texts;
  sender: string;
  logoUrl: string | null;
  colour: string;
  categories: readonly { category: string; name: string }[];
};

type App = SettingValues & { name: string };

/** How an app's pages look to whom `Accept-Language` tells of. Source: docs/reference/settings.md#pages. */
export const lookOf = (app: App, acceptLanguage: string | null): Look => {
  const { pages, languages } = settingsOf(app);
  const spoken = pages.languages ?? pageLanguagesOf(languages);
  const language = chosen(spoken, acceptLanguage ?? "");
  return {
    language,
    texts: texts[language],
    sender: pages.name ?? app.name,
    logoUrl: pages.logo_url,
    colour: pages.colour,
    categories: namesIn(pages.categories, language),
  };
};

const pageLanguagesOf = (languages: readonly string[]): PageLanguage[] => {
  const known = languages.flatMap((one) => pageLanguages.find((language) => language === primary(one)) ?? []);
  return known.length === 0 ? ["en"] : [...new Set(known)];
};

const mostWishes = 20; // languages that a header is read for

/** The reader's dearest of the languages, or else the first. Source: RFC 9110 12.5.4. */
const chosen = (spoken: readonly PageLanguage[], header: string): PageLanguage => {
  const wishes = header
    .slice(0, 1_000)
    .split(",", mostWishes)
    .map((one) => {
      const [range = "", weight] = one.trim().split(/\s*;\s*q=/i);
      return { language: primary(range), weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  const found = wishes.flatMap(({ language }) => spoken.find((one) => one === language) ?? [])[0];
  return found ?? spoken[0] ?? "en";
};

const primary = (language: string): string => (language.split("-", 1)[0] ?? "").toLowerCase();

type Named = { category: string; name: string; language?: string };

/** Each category once, by its name in the language, else by that of every language, else by the first. */
const namesIn = (all: readonly Named[], language: string): Look["categories"] =>
  [...Map.groupBy(all, ({ category }) => category)].map(([category, names]) => {
    const fits =
      names.find((one) => one.language !== undefined && primary(one.language) === language) ??
      names.find((one) => one.language === undefined);
    return { category, name: (fits ?? names[0])?.name ?? category };
  });
