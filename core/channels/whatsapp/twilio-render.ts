import { localised } from "../../domain/messages/languages.ts";
import type { FieldError } from "../../errors.ts";
import type { Content } from "../../schema/messages/notification.ts";
import type { Rendering } from "../kit/rendering.ts";
import type { Interactive, Template } from "./render.ts";

/**
 * One WhatsApp message over Twilio, shared by the recipients of a language.
 * - `said`: members of a request, a text, a file or a place.
 * - `approved`: a Content template of the account, by its name and language, with its variables.
 * - `template`: what is to be made a Content template: buttons or a list.
 * - `refused`: Twilio carries nothing of the kind.
 */
export type TwilioWhatsapp =
  | { kind: "said"; members: [string, string][]; ttlSeconds: number }
  | { kind: "approved"; name: string; language: string; variables: Record<string, string>; ttlSeconds: number }
  | { kind: "template"; language: string; types: Record<string, object>; ttlSeconds: number }
  | { kind: "refused"; reason: string };

/**
 * Renders a message for WhatsApp over Twilio.
 * Sources: twilio.com/docs/whatsapp/api, twilio.com/docs/content/twilio-quick-reply, twilio.com/docs/content/twilio-list-picker,
 * twilio.com/docs/content/using-variables-with-content-api.
 */
export const renderTwilioWhatsapp = ({ content, language, ttlSeconds }: Rendering): TwilioWhatsapp => {
  const [problem] = twilioProblems(content);
  if (problem !== undefined) return { kind: "refused", reason: `${problem.field} ${problem.message}` };
  const { whatsapp_template: template, whatsapp_interactive: interactive } = content;
  const text = localised(content.contents, language) ?? "";
  if (template !== undefined) {
    const { name, language: of } = template;
    return { kind: "approved", name, language: of, variables: variablesOf(template), ttlSeconds };
  }
  if (interactive !== undefined)
    return {
      kind: "template",
      language: language?.split("-", 1)[0] ?? "en",
      types: typesOf(interactive, text),
      ttlSeconds,
    };
  return { kind: "said", members: membersOf(content, text), ttlSeconds };
};

const membersOf = (content: Content, text: string): [string, string][] => {
  const { whatsapp_media: media, whatsapp_reply: { location } = {} } = content;
  if (location !== undefined) {
    const { latitude, longitude, name = "", address = "" } = location;
    const label = [name, address].filter(Boolean).join(", ");
    const place = `geo:${latitude.toFixed(6)},${longitude.toFixed(6)}${label && `|${label}`}`;
    return [
      ["Body", name || place],
      ["PersistentAction", place],
    ];
  }
  return [
    ...(text === "" || media?.type === "audio" ? [] : [["Body", text] satisfies [string, string]]),
    ...(media === undefined ? [] : [["MediaUrl", media.url] satisfies [string, string]]),
  ];
};

/** A Content template numbers its variables through: those of the body, then the header's, then the buttons' in their order. */
const variablesOf = ({ header, body_params: body = [], button_params: buttons = [] }: Template) => {
  const ofHeader =
    header === undefined ? [] : header.type === "text" ? [header.text] : "url" in header ? [header.url] : [];
  const ofButtons = buttons.toSorted((a, b) => a.index - b.index).map(({ value }) => value);
  return Object.fromEntries([...body, ...ofHeader, ...ofButtons].map((value, n) => [String(n + 1), value]));
};

const typesOf = ({ buttons, list }: Interactive, body: string): Record<string, object> => {
  if (list === undefined) return { "twilio/quick-reply": { body, actions: buttons ?? [] } };
  const items = list.sections.flatMap(({ rows }) =>
    rows.map(({ id, title: item, description }) => ({ id, item, description })),
  );
  return { "twilio/list-picker": { body, button: list.button, items } };
};

/** What of a message Twilio has no way to carry. */
export const twilioProblems = (content: Content): FieldError[] => {
  const { whatsapp_template: template, whatsapp_media: media, whatsapp_interactive: interactive } = content;
  const { context, reaction } = content.whatsapp_reply ?? {};
  const { header, footer, list } = interactive ?? {};
  return [
    ...refusedIf(context !== undefined, "reply_to_id"),
    ...refusedIf(reaction !== undefined, "reaction"),
    ...refusedIf(template?.header?.type === "location", "whatsapp_template.header"),
    ...refusedIf(template?.header?.type === "document", "whatsapp_template.header"),
    ...refusedIf(media?.filename !== undefined, "whatsapp_media.filename"),
    ...refusedIf(header !== undefined, "whatsapp_interactive.header"),
    ...refusedIf(footer !== undefined, "whatsapp_interactive.footer"),
    ...refusedIf(
      list?.sections.some(({ title }) => title !== undefined),
      "whatsapp_interactive.list.sections",
    ),
    ...(interactive === undefined ? [] : variableProblems(content, interactive)),
    ...Object.entries(content.contents ?? {}).flatMap(([language, text]) =>
      refusedIf(Array.from(text).length > mostText, `contents.${language}`, `must have at most ${mostText} characters`),
    ),
  ];
};

/** In what becomes a Content template Twilio reads `{{` as a variable. */
const variableProblems = ({ contents = {} }: Content, interactive: Interactive): FieldError[] => {
  const message = "must not have {{ in what becomes a Content template";
  return [
    ...Object.entries(contents).flatMap(([language, text]) =>
      refusedIf(text.includes("{{"), `contents.${language}`, message),
    ),
    ...refusedIf(JSON.stringify(interactive).includes("{{"), "whatsapp_interactive", message),
  ];
};

const mostText = 1_600; // Message resource, Body

const refusedIf = (isSo: boolean | undefined, field: string, message = "is not carried"): FieldError[] =>
  isSo === true ? [{ field, message: `${message} over Twilio` }] : [];
