import { languagesOf, localised } from "../../domain/messages/languages.ts";
import type { FieldError } from "../../errors.ts";
import type { Content } from "../../schema/messages/notification.ts";
import { tooLong } from "../kit/text.ts";

/** Bounds of RCS for Business, of which Twilio's cards are made. Source: docs/reference/texts.md#rcs. */
const most = { text: 3072, title: 200, description: 2000, fallback: 1600, suggestionsOfCard: 4 };

/** What makes a message impossible on RCS, and its schema cannot say. */
export const rcsProblems = (content: Content): FieldError[] => [
  ...excluded(content),
  ...missing(content),
  ...wordless(content),
  ...badSuggestions(content),
  ...textsOf(content).flatMap(({ field, texts, most: characters }) =>
    tooLong(field, texts, { most: characters, by: "RCS" }),
  ),
  ...variables(content),
];

const textsOf = ({ contents, rcs_card: card, rcs_fallback_text: fallback }: Content) => [
  { field: "contents", texts: contents, most: most.text },
  { field: "rcs_card.title", texts: card?.title, most: most.title },
  { field: "rcs_card.description", texts: card?.description, most: most.description },
  { field: "rcs_fallback_text", texts: fallback, most: most.fallback },
];

/** What becomes a template must not have what Twilio reads as a variable. Source: twilio.com/docs/content/using-variables-with-content-api. */
const variables = (content: Content): FieldError[] => {
  const { rcs_card: card, rcs_suggestions: suggestions = [] } = content;
  if (card === undefined && suggestions.length === 0) return [];
  const said = [
    ...textsOf(content).map(({ field, texts }) => ({ field, said: texts })),
    { field: "rcs_suggestions", said: suggestions },
  ];
  return said
    .filter((one) => JSON.stringify(one.said)?.includes("{{"))
    .map(({ field }) => ({ field, message: "must not contain {{, which stands for a variable" }));
};

/** Source: docs/reference/texts.md#rcs. */
const excluded = (content: Content): FieldError[] => {
  if (content.rcs_content_sid === undefined) return [];
  const members = ["rcs_card", "rcs_suggestions", "rcs_fallback_text"] as const;
  return members
    .filter((member) => content[member] !== undefined)
    .map((field) => ({ field, message: "is excluded by rcs_content_sid, whose template says it" }));
};

const missing = (content: Content): FieldError[] => {
  const { rcs_card: card, rcs_suggestions: suggestions = [], rcs_content_sid: sid } = content;
  const isText = card === undefined && suggestions.length === 0 && sid === undefined;
  const parts = [card?.title, card?.description, card?.media_url, suggestions[0]].filter((part) => part !== undefined);
  return [
    ...(content.rcs_content_variables !== undefined && sid === undefined
      ? [{ field: "rcs_content_variables", message: "needs rcs_content_sid" }]
      : []),
    ...(card !== undefined && card.title === undefined && card.description === undefined
      ? [{ field: "rcs_card", message: "needs a title or a description" }]
      : []),
    ...(card !== undefined && parts.length < 2
      ? [{ field: "rcs_card", message: "needs a second part: title, description, media_url or rcs_suggestions" }]
      : []),
    ...(isText && content.rcs_fallback_text !== undefined && !isSame(content.rcs_fallback_text, content.contents)
      ? [{ field: "rcs_fallback_text", message: "needs rcs_card or rcs_suggestions: a text is sent by SMS as it is" }]
      : []),
  ];
};

/** A card, or an SMS in its place, of which somebody would see no word. */
const wordless = (content: Content): FieldError[] => {
  const { rcs_card: card, rcs_fallback_text: fallback } = content;
  const message = "has no text";
  const isGiven = (card?.title ?? card?.description) !== undefined;
  const isSilent = (one: string | null) => !localised(card?.title, one) && !localised(card?.description, one);
  return [
    ...(isGiven && languagesOf(content).some(isSilent) ? [{ field: "rcs_card", message }] : []),
    ...Object.entries(fallback ?? {})
      .filter(([, text]) => text === "")
      .map(([language]) => ({ field: `rcs_fallback_text.${language}`, message })),
  ];
};

const isSame = (a: Record<string, string>, b: Record<string, string> = {}): boolean =>
  Object.entries({ ...a, ...b }).every(([language]) => a[language] === b[language]);

const badSuggestions = ({ rcs_suggestions: suggestions = [], rcs_card: card }: Content): FieldError[] => [
  ...(card !== undefined && suggestions.length > most.suggestionsOfCard
    ? [{ field: "rcs_suggestions", message: `has more than the ${most.suggestionsOfCard} of a card` }]
    : []),
  ...suggestions.flatMap((one, index): FieldError[] => {
    const field = `rcs_suggestions[${index}]`;
    if (one.type === "create_calendar_event" && Date.parse(one.end) <= Date.parse(one.start))
      return [{ field: `${field}.end`, message: "must be after start" }];
    const isPlace = one.type === "view_location" && one.query === undefined;
    if (isPlace && (one.latitude === undefined || one.longitude === undefined))
      return [{ field, message: "needs latitude and longitude, or query" }];
    return [];
  }),
];
