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
  const content = { ...given, ...textsIn(given) };
  const { buttons, web_buttons: webButtons, rcs_card: card, rcs_suggestions: suggestions } = content;
  const { whatsapp_template: template, whatsapp_interactive: interactive } = content;
  const { email_body: body, ...others } = content;
  const isMjml = Boolean(content.email_mjml) && body === "";
  return withoutNeutral({
    ...(isMjml ? others : content),
    ...(buttons && { buttons: buttons.map(withoutNeutral) }),
    ...(webButtons && { web_buttons: webButtons.map(withoutNeutral) }),
    ...(card && {
      rcs_card: withoutNeutral({ ...card, ...shownIn({ title: card.title, description: card.description }) }),
    }),
    ...(suggestions && { rcs_suggestions: suggestions.map(withoutNeutral) }),
    ...(template && { whatsapp_template: templateIn(template) }),
    ...(interactive && { whatsapp_interactive: withoutNeutral(interactive) }),
  });
};

const textsIn = ({ headings, contents, subtitle, rcs_fallback_text, email_subject, email_body }: Content): Content => ({
  ...shownIn({ headings, contents, subtitle, rcs_fallback_text }),
  ...shown({ email_subject, email_body }),
});

/** The language maps that are given, a text that shows nothing as the empty one. */
const shownIn = <Name extends string>(maps: Record<Name, LanguageMap | undefined>): { [N in Name]?: LanguageMap } =>
  Object.fromEntries(
    Object.entries<LanguageMap | undefined>(maps).flatMap(([name, map]) => (map ? [[name, shown(map)]] : [])),
  ) as { [N in Name]?: LanguageMap }; // sound: the names are those given

const shown = (texts: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, isBlank(text) ? "" : text]])),
  );

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

const withoutNeutral = <T extends object>(members: T): T =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([name, value]) => value !== undefined && !(isNeutral(value) && !(value === "" && telling.has(name))),
    ),
  ) as T; // sound: a member that may not be left out has no neutral value in its schema

/**
 * Whether a text shows nothing: it has only blanks, control characters and what Unicode lets a reader leave out, such as
 * the zero width space. The pattern of Braille without a dot shows nothing either.
 * Source: Unicode Standard Annex #44, White_Space and Default_Ignorable_Code_Point.
 */
export const isBlank = (text: string): boolean => blank.test(text);

const blank = /^[\s\p{Cc}\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]*$/u;
