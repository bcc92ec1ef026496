import { invalid } from "#core/errors.ts";
import type { CreateConversationMessage } from "#core/schema/conversations/message.ts";
import type { CreateNotification } from "#core/schema/messages/notification.ts";
import type { ReplyContent } from "#core/schema/messages/reply-content.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow, MediaRow } from "#core/storage/conversations/message-row.ts";

/** What a reply is, each by the member that says it; a text alone is none of these. */
const forms = [
  "media",
  "media_urls",
  "whatsapp_template",
  "whatsapp_interactive",
  "location",
  "reaction",
  "template_id",
] as const;

type Form = (typeof forms)[number];

const ofWhatsapp: readonly (keyof CreateConversationMessage)[] = [
  "media",
  "whatsapp_template",
  "whatsapp_interactive",
  "location",
  "reaction",
];
const ofMail: readonly (keyof CreateConversationMessage)[] = ["subject", "html", "attachments"];
const mostText = 4_096; // of every channel but mail

const withoutText: readonly Form[] = ["whatsapp_template", "location", "reaction", "template_id"];

/** @throws ValidationError for a reply that is nothing, or several things, or not of its channel */
export const requireForm = (body: CreateConversationMessage, channel: ConversationRow["channel"]): void => {
  const [form, other] = forms.filter((one) => body[one] !== undefined);
  if (other !== undefined) throw invalid(other, `excludes ${form}: a reply is one of them`);
  requireText(body, form);
  if (body.custom_data !== undefined && form !== "template_id") throw invalid("custom_data", "goes with template_id");
  if (channel !== "whatsapp")
    for (const member of ofWhatsapp)
      if (body[member] !== undefined) throw invalid(member, "belongs to conversations on WhatsApp");
  if (channel !== "email")
    for (const member of ofMail)
      if (body[member] !== undefined) throw invalid(member, "belongs to conversations by mail");
  if (channel !== "email" && (body.text?.length ?? 0) > mostText)
    throw invalid("text", `must be at most ${mostText} characters`);
  if (body.reply_to_id !== undefined && channel !== "whatsapp" && channel !== "email")
    throw invalid("reply_to_id", "belongs to conversations on WhatsApp and by mail");
  if (channel !== "sms" && form === "media_urls") throw invalid("media_urls", "belongs to conversations by SMS");
  if (body.reaction !== undefined && body.reply_to_id !== undefined)
    throw invalid("reply_to_id", "is not beside reaction, which names its message");
};

const requireText = ({ text, subject, html, media }: CreateConversationMessage, form: Form | undefined): void => {
  if (subject !== undefined && form !== undefined) throw invalid("subject", `is not beside ${form}`);
  if (html !== undefined && form !== undefined) throw invalid("html", `is not beside ${form}`);
  if (form === undefined && (text ?? html) === undefined)
    throw invalid("text", `is required, or one of ${forms.join(", ")}`);
  if (form === "whatsapp_interactive" && text === undefined)
    throw invalid("text", "is required beside whatsapp_interactive, as its body");
  if (text === undefined || form === undefined) return;
  if (withoutText.includes(form)) throw invalid("text", `is not beside ${form}`);
  if (media?.type === "audio") throw invalid("text", "is not beside audio, which has no caption");
};

/** The id under which the provider knows the message that a reply names. */
export type Quoted = { rawId: string } | null;

/** Never held back, capped or throttled: somebody waits for it. Without a template its text is sent as it is. */
export const notificationOf = (
  conversation: ConversationRow,
  body: CreateConversationMessage,
  quoted: Quoted,
): CreateNotification & ReplyContent => {
  const { channel, subscription_id, sender_address: sender } = conversation;
  const { text, media, media_urls, whatsapp_template, whatsapp_interactive, location, reaction } = body;
  const own = {
    ...(location !== undefined && { location }),
    ...(reaction !== undefined && quoted !== null && { reaction: { message_id: quoted.rawId, emoji: reaction.emoji } }),
    ...(reaction === undefined && quoted !== null && { context: quoted.rawId }),
  };
  return {
    target: { include_subscription_ids: [subscription_id], channels: [channel] },
    ...(channel === "email" ? mailOf(conversation, body, quoted) : text !== undefined && { contents: { en: text } }),
    ...(media !== undefined && { whatsapp_media: media }),
    ...(media_urls !== undefined && { sms_media_urls: media_urls }),
    ...(whatsapp_template !== undefined && { whatsapp_template }),
    ...(whatsapp_interactive !== undefined && { whatsapp_interactive }),
    ...(channel === "whatsapp" && Object.keys(own).length > 0 && { whatsapp_reply: own }),
    ...(body.template_id !== undefined && { template_id: body.template_id }),
    ...(body.custom_data !== undefined && { custom_data: body.custom_data }),
    ...(channel === "sms" && sender !== "" && { sms_from: sender }),
    frequency_cap_exempt: true,
    quiet_hours_exempt: true,
    throttle_rate_per_minute: 0,
  };
};

/**
 * A mail in the thread of the conversation, which is answered to the address that was written to. It does not come from there:
 * whoever wrote chose what their mail's head says.
 */
const mailOf = (
  { sender_address: own, subject = "", thread_key: root, last_mail_id: last }: ConversationRow,
  { text, html, subject: about, attachments: files }: CreateConversationMessage,
  quoted: Quoted,
): Partial<CreateNotification & ReplyContent> => {
  const answered = quoted?.rawId ?? last ?? root; // of a thread that is ours, as long as nobody has answered, its first mail
  const references = [...new Set([root, answered].filter((id) => id !== undefined))];
  const body = html ?? (text === undefined ? undefined : htmlOf(text));
  return {
    email_reply_to_address: own,
    ...(files !== undefined && { email_files: files }),
    ...(body !== undefined && { email_subject: about ?? answerTo(subject), email_body: body }),
    ...(answered !== undefined && { email_reply: { in_reply_to: answered, references } }),
  };
};

const answerTo = (subject: string): string => (/^re:/i.test(subject) ? subject : `Re: ${subject}`).slice(0, 998).trim();

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const htmlOf = (text: string): string =>
  `<p>${text.replace(/[&<>"]/g, (character) => escapes[character] ?? character).replace(/\r?\n/g, "<br>\n")}</p>`;

/** What of a body a message keeps. */
export const keptOf = (body: CreateConversationMessage): Partial<ConversationMessageRow> & { type: Kind } => {
  const { media, media_urls, attachments = [], location, reaction, reply_to_id } = body;
  const answered = reply_to_id ?? reaction?.message_id;
  const files = [
    ...(media === undefined ? [] : [media]),
    ...(media_urls ?? []).map((url) => ({ type: kindOf(url), url })),
    ...attachments.map((file) => ({ type: kindOf(file.url), ...file })),
  ];
  return {
    type: typeOf(body),
    ...(body.text !== undefined && { text: body.text }),
    ...(body.subject !== undefined && { subject: body.subject }),
    ...(body.html !== undefined && { html: body.html }),
    ...(files.length > 0 && { media: files.map(fileRow) }),
    ...(body.whatsapp_template !== undefined && { template: body.whatsapp_template }),
    ...(body.whatsapp_interactive !== undefined && { interactive: body.whatsapp_interactive }),
    ...(location !== undefined && { location: { name: null, address: null, ...location } }),
    ...(reaction !== undefined && { reaction: { messageId: reaction.message_id, emoji: reaction.emoji || null } }),
    ...(body.template_id !== undefined && { template_id: body.template_id }),
    ...(answered !== undefined && { reply_to_id: answered }),
  };
};

type Kind = ConversationMessageRow["type"];

const typeOf = (body: CreateConversationMessage): Kind => {
  if (body.media !== undefined || body.media_urls !== undefined) return "media";
  if (body.whatsapp_template !== undefined || body.template_id !== undefined) return "template";
  if (body.whatsapp_interactive !== undefined) return "interactive";
  if (body.location !== undefined) return "location";
  if (body.attachments !== undefined) return "media";
  return body.reaction === undefined ? "text" : "reaction";
};

type File = { type: MediaRow["type"]; url: string; filename?: string | undefined };

const fileRow = ({ type, url, filename }: File): MediaRow => ({
  type,
  filename: filename ?? null,
  mime_type: null,
  status: "stored",
  link: url,
});

/** By the end of an address, as nobody has fetched it. */
const kindOf = (url: string): MediaRow["type"] => {
  const path = URL.parse(url)?.pathname ?? "";
  if (/\.(jpe?g|png|gif|webp)$/i.test(path)) return "image";
  if (/\.(mp4|3gpp?|mov|webm)$/i.test(path)) return "video";
  return /\.(mp3|m4a|amr|ogg|wav)$/i.test(path) ? "audio" : "document";
};
