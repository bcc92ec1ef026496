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

/** Whether its addresses are phone numbers. */
export const isPhone = (channel: string): boolean => isContact(channel) && channel !== "email";

export const isContact = (channel: string): channel is ContactChannel =>
  (contactChannels as readonly string[]).includes(channel);

/** What devices run on, and the channel of each. */
export const channelOfPlatform = {
  ios: "ios_push",
  android: "android_push",
  hms: "hms_push",
  web: "web_push",
} as const satisfies Record<string, Channel>;

export type Platform = keyof typeof channelOfPlatform;
export const platforms = Object.keys(channelOfPlatform) as Platform[]; // sound: it has these alone
