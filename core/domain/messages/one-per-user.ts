import type { Channel } from "../../schema/vocabulary/channels.ts";

/** What decides which of a person's addresses a message goes to that reaches each person once. */
export type Ranked = { _id: string; channel: Channel; last_active_at: Date };

/**
 * The addresses of one person in an audience, the one that is sent to first: by the place of their channel among those
 * that the message names, else push before WhatsApp, SMS, RCS and e-mail; then the one that was active last.
 * Source: docs/reference/messages.md#one-per-user.
 */
export const ranked = <Address extends Ranked>(
  addresses: readonly Address[],
  named: readonly Channel[] | undefined,
): Address[] => {
  const placeOf = (channel: Channel): number => (named === undefined ? usualPlaces[channel] : named.indexOf(channel));
  return addresses.toSorted(
    (a, b) =>
      placeOf(a.channel) - placeOf(b.channel) ||
      b.last_active_at.getTime() - a.last_active_at.getTime() ||
      (a._id < b._id ? -1 : 1),
  );
};

const usualPlaces: Record<Channel, number> = {
  ios_push: 0,
  android_push: 0,
  hms_push: 0,
  web_push: 0,
  whatsapp: 1,
  sms: 2,
  rcs: 3,
  email: 4,
};
