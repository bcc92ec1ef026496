import type { Channel } from "#core/schema/vocabulary/channels.ts";
import { androidPush } from "./android-push/channel.ts";
import { email } from "./email/channel.ts";
import { hmsPush } from "./hms-push/channel.ts";
import { iosPush } from "./ios-push/channel.ts";
import type { SendingChannel } from "./kit/provider.ts";
import { rcs } from "./rcs/channel.ts";
import { sms } from "./sms/channel.ts";
import { webPush } from "./web-push/channel.ts";
import { whatsapp } from "./whatsapp/channel.ts";

/** How each channel is sent over. */
export const sendingChannels: { readonly [C in Channel]: SendingChannel<C> } = {
  ios_push: iosPush,
  android_push: androidPush,
  hms_push: hmsPush,
  web_push: webPush,
  email,
  sms,
  whatsapp,
  rcs,
};
