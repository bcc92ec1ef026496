/** The channels of the service. Source: docs/reference/channels.md#names. */
export const channels = [
  "ios_push",
  "android_push",
  "hms_push",
  "web_push",
  "email",
  "sms",
  "whatsapp",
  "rcs",
] as const;

export type Channel = (typeof channels)[number];

/** Channels that a message can be sent over in this release; a request for another is refused, never ignored. */
export const sendableChannels = ["ios_push", "android_push", "web_push", "email"] as const satisfies readonly Channel[];

export type SendableChannel = (typeof sendableChannels)[number];

export const isSendable = (channel: string): channel is SendableChannel =>
  (sendableChannels as readonly string[]).includes(channel);
