import { personKey } from "../domain/people/keys.ts";
import type { Channel, ContactChannel } from "../schema/vocabulary/channels.ts";
import { definitions } from "./all.ts";
import type { Checked } from "./kit/channel.ts";

/** The one spelling of an address under which its channel keeps it, or why it cannot be one. */
export const checkAddress = (channel: Channel, given: string): Checked =>
  definitions[channel].address.check(given.trim());

/** The key by which events and erasure know such an address as a person's, whichever channel it is used on. */
export const contactKey = (channel: ContactChannel, address: string): string =>
  personKey(channel === "email" ? "email" : "phone", address);

/** An address as it may be shown: what recognises it, too little to use it. */
export const maskAddress = (channel: Channel, address: string): string => definitions[channel].address.mask(address);
