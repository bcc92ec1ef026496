import { type Channel, type SendableChannel, sendableChannels } from "../schema/vocabulary/channels.ts";
import { androidPush } from "./android-push/channel.ts";
import { email } from "./email/channel.ts";
import { iosPush } from "./ios-push/channel.ts";
import type { ChannelDefinition } from "./kit/channel.ts";
import { webPush } from "./web-push/channel.ts";

/** What each channel is that messages can be sent over. */
export const definitions = {
  ios_push: iosPush,
  android_push: androidPush,
  web_push: webPush,
  email,
} satisfies Record<SendableChannel, ChannelDefinition>;

export type Definitions = typeof definitions;

/** The definition of a channel; undefined for one that nothing can be sent over yet. */
export const definitionOf = (channel: Channel): ChannelDefinition | undefined =>
  (definitions as Partial<Record<Channel, ChannelDefinition>>)[channel];

/** All definitions, in the order of the vocabulary. */
export const allDefinitions: readonly ChannelDefinition[] = sendableChannels.map((channel) => definitions[channel]);
