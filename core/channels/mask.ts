import type { Channel } from "../schema/vocabulary/channels.ts";

/** An address as it may be shown: the last 8 characters of a token, the first letter and domain of a mail address. */
export const maskAddress = (channel: Channel, address: string): string => {
  if (channel === "email") return maskMail(address);
  if (channel === "sms" || channel === "whatsapp" || channel === "rcs") return maskPhone(address);
  return `•••${address.slice(-8)}`;
};

const maskMail = (address: string): string => {
  const at = address.lastIndexOf("@");
  return at < 1 ? "•••" : `${address.slice(0, 1)}•••${address.slice(at)}`;
};

const maskPhone = (address: string): string => `${address.slice(0, 3)}•••${address.slice(-3)}`;
