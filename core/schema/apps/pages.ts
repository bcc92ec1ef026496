import { Type } from "typebox";
import { Closed } from "../json/common.ts";
import { patterns, worded } from "../json/patterns.ts";

const { Array: List, Enum, Optional, String: Text } = Type;

/** Languages that the pages for people have texts in. */
export const pageLanguages = ["en", "de", "fr", "es", "it", "pt", "nl"] as const;
export type PageLanguage = (typeof pageLanguages)[number];

export const mostCategoryNames = 60;
export const mostPageCategories = 20;

const Category = Closed(
  {
    category: Text({ minLength: 1, maxLength: 64, description: "as messages name it" }),
    name: Text({ minLength: 1, maxLength: 128, description: "what people read for it" }),
    language: Optional(
      Text({
        maxLength: 35,
        pattern: patterns.language,
        description: "whose readers read this name; left out: those of every language without a name of its own",
      }),
    ),
  },
  { description: "a category of messages that people may choose" },
);

/** Languages of an app, its own first. */
export const Languages = List(Text({ maxLength: 35, pattern: patterns.language }), {
  default: ["en"],
  minItems: 1,
  maxItems: 20,
  description: "languages that the app speaks to people in; a reader of another one is shown the first",
});

/** How the pages look that people get to see, and what they offer. */
export const Pages = Closed(
  {
    name: Type.Union([Text({ minLength: 1, maxLength: 128 }), Type.Null()], {
      default: null,
      description: "who writes to them; null: the app's name",
    }),
    logo_url: Type.Union([Text({ maxLength: 2000, pattern: patterns.httpAddress }), Type.Null()], {
      default: null,
      description: "https address of a picture at their head",
    }),
    colour: Text({
      default: "#1f5fbf",
      maxLength: 7,
      pattern: worded("^#[0-9a-fA-F]{6}$", "must be a colour such as #1f5fbf"),
      description: "of their buttons; what is written on these is black or white, whichever is read better",
    }),
    languages: Type.Union(
      [List(Enum([...pageLanguages]), { minItems: 1, maxItems: pageLanguages.length }), Type.Null()],
      {
        default: null,
        description:
          "languages that they are shown in; null: those of `languages` that they have texts in, or else English",
      },
    ),
    categories: List(Category, {
      default: [],
      maxItems: mostCategoryNames,
      description: `categories that people can leave one by one, ${mostPageCategories} at most, with a name for each language`,
    }),
  },
  { description: "the pages that people get to see, where they unsubscribe and say what they want" },
);
