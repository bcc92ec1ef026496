import type { SendableChannel } from "#core/schema/vocabulary/channels.ts";
import { androidPush } from "./android-push/channel.ts";
import { email } from "./email/channel.ts";
import { iosPush } from "./ios-push/channel.ts";
import type { SendingChannel } from "./kit/provider.ts";
import { webPush } from "./web-push/channel.ts";

/** How each channel is sent over. */
export const sendingChannels: { readonly [C in SendableChannel]: SendingChannel<C> } = {
  ios_push: iosPush,
  android_push: androidPush,
  web_push: webPush,
  email,
};
