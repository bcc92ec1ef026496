import { type Channel, channels } from "../schema/vocabulary/channels.ts";
import { androidPush } from "./android-push/channel.ts";
import { email } from "./email/channel.ts";
import { hmsPush } from "./hms-push/channel.ts";
import { iosPush } from "./ios-push/channel.ts";
import type { ChannelDefinition } from "./kit/channel.ts";
import { rcs } from "./rcs/channel.ts";
import { sms } from "./sms/channel.ts";
import { webPush } from "./web-push/channel.ts";
import { whatsapp } from "./whatsapp/channel.ts";

/** What each channel is. */
export const definitions = {
  ios_push: iosPush,
  android_push: androidPush,
  hms_push: hmsPush,
  web_push: webPush,
  email,
  sms,
  whatsapp,
  rcs,
} satisfies Record<Channel, ChannelDefinition>;

export type Definitions = typeof definitions;

/** The definition of a channel, with what not every channel has. */
export const definitionOf = (channel: Channel): ChannelDefinition => definitions[channel];

/** All definitions, in the order of the vocabulary. */
export const allDefinitions: readonly ChannelDefinition[] = channels.map((channel) => definitions[channel]);
