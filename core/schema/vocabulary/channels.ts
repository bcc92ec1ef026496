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

/** Channels whose addresses a person tells others, unlike those of a device. */
export const contactChannels = ["email", "sms", "whatsapp", "rcs"] as const satisfies readonly Channel[];

export type ContactChannel = (typeof contactChannels)[number];

export const isContact = (channel: string): channel is ContactChannel =>
  (contactChannels as readonly string[]).includes(channel);

/** Channels that a message can be sent over in this release; a request for another is refused, never ignored. */
export const sendableChannels = ["ios_push", "android_push", "web_push", "email"] as const satisfies readonly Channel[];

export type SendableChannel = (typeof sendableChannels)[number];

export const isSendable = (channel: string): channel is SendableChannel =>
  (sendableChannels as readonly string[]).includes(channel);
