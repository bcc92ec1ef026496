import { localised } from "../../domain/messages/languages.ts";
import type { Content } from "../../schema/messages/notification.ts";
import type { Rendering } from "../kit/rendering.ts";
import { type CardAction, cardActions } from "./suggestions.ts";

/** One RCS message, shared by the recipients of a language. */
export type RcsMessage = {
  body: RcsBody;
  /** Whether a phone that does not take RCS gets an SMS. */
  fallsBack: boolean;
  ttlSeconds: number;
};

/**
 * - `text`: a plain text.
 * - `content`: a Content template of the account's own, with its variables.
 * - `template`: what is to be made a Content template: a card, or a text with suggestions, and what an SMS says instead.
 */
export type RcsBody =
  | { kind: "text"; text: string }
  | { kind: "content"; sid: string; variables: Readonly<Record<string, string>> }
  | { kind: "template"; language: string; types: ContentTypes };

/** Source: twilio.com/docs/content/twiliocard, twilio.com/docs/content/twilio-text. */
export type ContentTypes = {
  "twilio/card": { title?: string; body?: string; media?: [string]; actions?: CardAction[] };
  "twilio/text"?: { body: string };
};

/** Renders a message for RCS. */
export const renderRcs = ({ content, language, ttlSeconds }: Rendering): RcsMessage => ({
  body: bodyOf(content, language),
  // a template of the account's own says itself what an SMS is to say
  fallsBack: content.rcs_fallback_text !== undefined || content.rcs_content_sid !== undefined,
  ttlSeconds,
});

const bodyOf = (content: Content, language: string | null): RcsBody => {
  const { rcs_content_sid: sid, rcs_content_variables: variables = {}, rcs_card: card, contents } = content;
  const suggestions = content.rcs_suggestions ?? [];
  const text = localised(contents, language) ?? "";
  if (sid !== undefined) return { kind: "content", sid, variables };
  if (card === undefined && suggestions.length === 0) return { kind: "text", text };
  const fallback = localised(content.rcs_fallback_text, language);
  const types: ContentTypes = {
    "twilio/card": {
      ...given("title", localised(card?.title, language)),
      ...given("body", card === undefined ? text : localised(card.description, language)),
      ...(card?.media_url === undefined ? {} : { media: [card.media_url] }),
      ...(suggestions.length === 0 ? {} : { actions: cardActions(suggestions) }),
    },
    ...(fallback === undefined ? {} : { "twilio/text": { body: fallback } }),
  };
  return { kind: "template", language: language?.split("-", 1)[0] ?? "en", types };
};

const given = <Name extends string>(name: Name, value: string | undefined): { [N in Name]?: string } =>
  value === undefined ? {} : ({ [name]: value } as { [N in Name]?: string }); // sound: the only member is `name`
