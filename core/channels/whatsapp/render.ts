import { localised } from "../../domain/messages/languages.ts";
import type { Content } from "../../schema/messages/notification.ts";
import type { ReplyContent } from "../../schema/messages/reply-content.ts";
import type { Rendering } from "../kit/rendering.ts";

/** One WhatsApp message, shared by the recipients of a language; `whatsappBody` adds what is the recipient's own. */
export type WhatsappMessage = {
  /** What is said, as the end of the request's JSON. */
  said: string;
};

/**
 * Renders a message for WhatsApp: a template, media, buttons or a list, else the text itself. The text is the caption of
 * media and the body of buttons and lists. Source: developers.facebook.com, WhatsApp Business Platform, "Messages".
 */
export const renderWhatsapp = ({ content, language }: Pick<Rendering, "content" | "language">): WhatsappMessage => ({
  said: JSON.stringify(saidOf(content, localised(content.contents, language) ?? "")).slice(1),
});

/** The request body for one recipient. Meta gives the delivery id back with each status of the message. */
export const whatsappBody = ({ said }: WhatsappMessage, to: string, deliveryId: string): string =>
  `{"messaging_product":"whatsapp","recipient_type":"individual","to":${JSON.stringify(to)},"biz_opaque_callback_data":"${deliveryId}",${said}`;

export type Template = NonNullable<Content["whatsapp_template"]>;
export type Media = NonNullable<Content["whatsapp_media"]>;
export type Interactive = NonNullable<Content["whatsapp_interactive"]>;

const saidOf = (content: Content, text: string): object => {
  const { context, location, reaction } = content.whatsapp_reply ?? {};
  const quoted = context === undefined ? {} : { context: { message_id: context } };
  if (reaction !== undefined) return { type: "reaction", reaction };
  if (location !== undefined) return { ...quoted, type: "location", location: placeOf(location) };
  return { ...quoted, ...formOf(content, text) };
};

const formOf = (content: Content, text: string): object => {
  const { whatsapp_template: template, whatsapp_media: media, whatsapp_interactive: interactive } = content;
  if (template !== undefined) return { type: "template", template: templateOf(template) };
  if (media !== undefined) return { type: media.type, [media.type]: mediaOf(media, text) };
  if (interactive !== undefined) return { type: "interactive", interactive: interactiveOf(interactive, text) };
  return { type: "text", text: { body: text } };
};

/** `deterministic`: exactly this language, never another one of the template. */
const templateOf = ({ name, language, header, body_params: body = [], button_params: buttons = [] }: Template) => ({
  name,
  language: { policy: "deterministic", code: language },
  components: [
    ...(header === undefined ? [] : [{ type: "header", parameters: [headerOf(header)] }]),
    ...(body.length === 0 ? [] : [{ type: "body", parameters: body.map((text) => ({ type: "text", text })) }]),
    ...buttons.map(({ index, sub_type, value }) => ({
      type: "button",
      sub_type,
      index: String(index),
      parameters: [buttonValues[sub_type](value)],
    })),
  ],
});

const headerOf = (header: NonNullable<Template["header"]>): object => {
  switch (header.type) {
    case "text":
      return header;
    case "image":
    case "video":
      return { type: header.type, [header.type]: { link: header.url } };
    case "document":
      return { type: "document", document: { link: header.url, filename: header.filename } };
    case "location": {
      const { type, ...place } = header;
      return { type, location: placeOf(place) };
    }
  }
};

const placeOf = ({
  latitude,
  longitude,
  ...place
}: NonNullable<ReplyContent["whatsapp_reply"]>["location"] & object) => ({
  latitude: latitude.toFixed(6),
  longitude: longitude.toFixed(6),
  ...place,
});

const buttonValues = {
  url: (text: string) => ({ type: "text", text }),
  quick_reply: (payload: string) => ({ type: "payload", payload }),
  copy_code: (code: string) => ({ type: "coupon_code", coupon_code: code }),
};

/** Audio has no caption, and only a document has a name. */
const mediaOf = ({ type, url, filename }: Media, text: string) => ({
  link: url,
  caption: type === "audio" ? undefined : text || undefined,
  filename,
});

const interactiveOf = ({ type, header, footer, buttons, list }: Interactive, text: string) => ({
  type,
  header: header === undefined ? undefined : { type: "text", text: header },
  body: { text },
  footer: footer === undefined ? undefined : { text: footer },
  action: list ?? { buttons: buttons?.map((reply) => ({ type: "reply", reply })) },
});
