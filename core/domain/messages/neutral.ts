import type { LanguageMap } from "../../schema/json/common.ts";
import type { Content, Target } from "../../schema/messages/notification.ts";

/**
 * Whether a value asks for nothing: `false`, `null`, the empty text, list or map. 0 does so only where a member says it,
 * because a badge of 0 is removed and a place may lie on the equator. Source: docs/reference/messages.md#neutral-values.
 */
export const isNeutral = (value: unknown): boolean =>
  value === false || value === null || value === "" || isEmpty(value);

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/**
 * What a message says: its content without the members that ask for nothing, and with a text that shows nothing as the
 * empty one. Everything that judges or renders a message asks this.
 */
export const saidIn = (given: Content): Content => {
  const said: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const told = value === undefined || value === null ? value : (tellingOf.get(name)?.(value) ?? value);
    if (tells(name, told)) said[name] = told;
  }
  if (said["email_body"] === "" && Boolean(said["email_mjml"])) delete said["email_body"]; // it is what MJML becomes
  return said;
};

/** The same map where each of its texts shows something: this is asked for each recipient of a template. */
const shownIn = (map: LanguageMap): LanguageMap =>
  Object.values(map).some(isHidden)
    ? Object.fromEntries(Object.entries(map).map(([language, text]) => [language, isBlank(text) ? "" : text]))
    : map;

const isHidden = (text: string): boolean => text !== "" && isBlank(text);
const shownText = (text: string): string => (isBlank(text) ? "" : text);

type Telling = { [Name in keyof Content]?: (value: NonNullable<Content[Name]>) => unknown };

/** What members say that are not taken as they are: their values are those of the content's schema. */
const tellings: Telling = {
  headings: shownIn,
  contents: shownIn,
  subtitle: shownIn,
  rcs_fallback_text: shownIn,
  email_subject: shownText,
  email_body: shownText,
  buttons: (all) => all.map(withoutNeutral),
  web_buttons: (all) => all.map(withoutNeutral),
  rcs_card: ({ title, description, ...card }) =>
    withoutNeutral({
      ...card,
      ...(title && { title: shownIn(title) }),
      ...(description && { description: shownIn(description) }),
    }),
  rcs_suggestions: (all) => all.map(withoutNeutral),
  whatsapp_template: (template) => templateIn(template),
  whatsapp_interactive: withoutNeutral,
};
const tellingOf = new Map(Object.entries(tellings) as [string, (value: unknown) => unknown][]); // sound: a member's own value is given

const templateIn = ({ header, ...template }: NonNullable<Content["whatsapp_template"]>) => ({
  ...withoutNeutral(template),
  ...(header && { header: withoutNeutral(header) }),
});

/** Whom a message is for: its target without what selects, adds or excludes nobody. An empty list of ids selects nobody, and stays. */
export const meantBy = ({ include_aliases: aliases, ...target }: Target): Target => ({
  ...withoutNeutral(target),
  ...idLists(target),
  ...(aliases && { include_aliases: withoutNeutral(aliases) }),
});

const idLists = ({ include_subscription_ids: subscriptions, include_external_ids: externalIds }: Target): Target => ({
  ...(subscriptions && { include_subscription_ids: subscriptions }),
  ...(externalIds && { include_external_ids: externalIds }),
});

/** Texts that say something when they are empty: silence, and half of a mail. */
const telling: ReadonlySet<string> = new Set(["ios_sound", "android_sound", "email_subject", "email_body"]);

function withoutNeutral<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([name, value]) => tells(name, value))) as T; // sound: a member that may not be left out has no neutral value in its schema
}

/** Whether a member says something. */
const tells = (name: string, value: unknown): boolean =>
  value !== undefined && !(isNeutral(value) && !(value === "" && telling.has(name)));

/**
 * Whether a text shows nothing: it has only blanks, control characters and what Unicode lets a reader leave out, such as
 * the zero width space. The pattern of Braille without a dot shows nothing either.
 * Source: Unicode Standard Annex #44, White_Space and Default_Ignorable_Code_Point.
 */
export const isBlank = (text: string): boolean => blank.test(text);

const blank = /^[\s\p{Cc}\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]*$/u;
