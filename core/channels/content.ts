import { languagesOf, localised } from "../domain/messages/languages.ts";
import type { FieldError } from "../errors.ts";
import type { Content, Options, Target } from "../schema/messages/notification.ts";
import { type SendableChannel, sendableChannels } from "../schema/vocabulary/channels.ts";

/** Whether a message says anything on a channel. Source: decisions 7.1. */
export const hasContent = (channel: SendableChannel, content: Content): boolean =>
  channel === "email"
    ? content.email_subject !== undefined && content.email_body !== undefined
    : hasTexts(content) || content.content_available === true || Object.keys(content.data ?? {}).length > 0;

const hasTexts = ({ headings, contents }: Content): boolean => headings !== undefined || contents !== undefined;

/** Texts that were given and say nothing on these channels: what they make would count as sent, and nobody would see it. */
export const emptyTexts = (content: Content, over: readonly SendableChannel[]): FieldError[] => [
  ...(over.some((channel) => channel !== "email") ? emptyPush(content) : []),
  ...(over.includes("email") ? emptyMail(content) : []),
];

/** A push without a title and a body wakes the device and shows nothing, which is asked for by `content_available`. */
const emptyPush = (content: Content): FieldError[] => {
  const { headings, contents, content_available: isSilent } = content;
  if (isSilent === true || !hasTexts(content)) return [];
  const language = languagesOf(content).findLast((one) => !localised(headings, one) && !localised(contents, one));
  if (language === undefined) return [];
  const [member, texts] = contents === undefined ? ["headings", headings] : ["contents", contents];
  const field = language !== null && texts?.[language] !== undefined ? `${member}.${language}` : member;
  return [{ field, message: "has no text; content_available asks for a push that shows nothing" }];
};

const emptyMail = ({ email_subject: subject, email_body: body }: Content): FieldError[] =>
  subject === "" && body === "" ? [{ field: "email_body", message: "is empty, and so is email_subject" }] : [];

/** The channels that have content: those that a message goes over when it names none. */
export const channelsWithContent = (content: Content): SendableChannel[] =>
  sendableChannels.filter((channel) => hasContent(channel, content));

/** The channels a message asks for, each once, in its own order; null when it names none. */
export const channelsAsked = ({ channels }: Target): string[] | null => (channels ? [...new Set(channels)] : null);

/** Channel and status of the subscriptions that a message may reach. Source: decisions 2.3 (include_unsubscribed). */
export const reachOf = (
  channels: readonly SendableChannel[],
  { include_unsubscribed: isWide }: Options,
): { channel: SendableChannel; status: "subscribed" | "unsubscribed" }[] =>
  channels.flatMap((channel) => [
    { channel, status: "subscribed" as const },
    ...(channel === "email" && isWide === true ? [{ channel, status: "unsubscribed" as const }] : []),
  ]);
