import { languagesOf } from "../domain/messages/languages.ts";
import type { FieldError } from "../errors.ts";
import type { SkippedChannel } from "../schema/messages/message.ts";
import type { Content, Options, Target } from "../schema/messages/notification.ts";
import type { Channel } from "../schema/vocabulary/channels.ts";
import type { ChannelAccounts } from "./accounts.ts";
import { allDefinitions, definitionOf, definitions } from "./all.ts";
import type { ChannelDefinition } from "./kit/channel.ts";
import { anId } from "./kit/rendering.ts";

type ContentAndOptions = { content: Content; options: Options };

/** Whether a message says anything on a channel. */
export const hasContent = (channel: Channel, content: Content): boolean => definitions[channel].content.isIn(content);

/** The channels that have content: those that a message goes over when it names none. */
export const channelsWithContent = (content: Content): Channel[] =>
  allDefinitions.map(({ name }) => name).filter((name) => whySkipped(name, content) === null);

/** Why a message that names no channels does not go over one; null when it does. */
export const whySkipped = (channel: Channel, content: Content): SkippedChannel["reason"] | null => {
  const { isIn, isMeant = isIn } = definitionOf(channel).content;
  if (!isIn(content)) return "no_content";
  return isMeant(content) ? null : "not_named";
};

/** The channels a message asks for, each once, in its own order; null when it names none. */
export const channelsAsked = ({ channels }: Target): Channel[] | null => (channels ? [...new Set(channels)] : null);

/** Texts that were given and say nothing on these channels. */
export const emptyTexts = (content: Content, over: readonly Channel[]): FieldError[] =>
  [...new Set(chosen(over).map((channel) => channel.content))].flatMap((rule) => rule.empty(content));

/** Channel and status of the subscriptions that a message may reach. */
export const reachOf = (
  channels: readonly Channel[],
  options: Options,
): { channel: Channel; status: "subscribed" | "unsubscribed" }[] =>
  channels.flatMap((channel) => [
    { channel, status: "subscribed" as const },
    ...(mayReachUnsubscribed(channel, options) ? [{ channel, status: "unsubscribed" as const }] : []),
  ]);

/** Whether a message reaches the unsubscribed of a channel too. Source: docs/reference/messages.md#targets. */
export const mayReachUnsubscribed = (channel: Channel, { include_unsubscribed: isAsked }: Options): boolean =>
  isAsked === true && definitionOf(channel).mayReachUnsubscribed;

/** Whether a later message of the same collapse id replaces this one at its recipients, and so does a repeat of it. */
export const isReplaceable = (channel: Channel, { collapse_id: id }: Options): boolean =>
  Boolean(id) && definitionOf(channel).content.isReplaceable === true;

/**
 * What makes a message impossible on these channels: a body over the provider's limit in some language, or what else
 * a channel says, of the accounts that the app has. Asked before a message is accepted.
 * Source: docs/reference/channels.md#payload-limits.
 */
export const impossible = (
  message: ContentAndOptions,
  over: readonly Channel[],
  accounts: ChannelAccounts<unknown> = {},
): FieldError[] => [
  ...chosen(over).flatMap((channel) => oversize(message, channel)),
  ...chosen(over).flatMap(({ name, problems }) => problems?.({ ...message, account: accounts[name] }) ?? []),
];

const chosen = (over: readonly Channel[]): ChannelDefinition[] =>
  allDefinitions.filter(({ name }) => over.includes(name));

const oversize = ({ content, options }: ContentAndOptions, { name, limit }: ChannelDefinition): FieldError[] => {
  if (limit === null) return [];
  const field = content.contents === undefined ? "data" : "contents";
  for (const language of languagesOf(content)) {
    const body = limit.body({ messageId: anId, content, options, language, ttlSeconds: options.ttl ?? 2_419_200 });
    const sizeBytes = Buffer.byteLength(body);
    if (sizeBytes <= limit.maxBytes) continue;
    const where = language === null ? "" : ` in language ${language}`;
    return [{ field, message: `as ${name} it has ${sizeBytes} bytes${where}; at most ${limit.maxBytes} can be sent` }];
  }
  return [];
};
