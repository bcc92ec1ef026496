import type { Content, Options, Target } from "../schema/notification.ts";
import { type SendableChannel, sendableChannels } from "./channels.ts";

/** Whether a message says anything on a channel. Source: decisions 7.1. */
export const hasContent = (channel: SendableChannel, content: Content): boolean =>
  channel === "email"
    ? content.email_subject !== undefined && content.email_body !== undefined
    : pushMembers.some((member) => content[member] !== undefined);

const pushMembers = ["headings", "contents", "content_available", "data"] as const;

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
