import { personKey } from "../domain/people/keys.ts";
import { type Channel, type ContactChannel, isContact, type SendableChannel } from "../schema/vocabulary/channels.ts";
import { definitionOf, definitions } from "./all.ts";
import type { Checked } from "./kit/channel.ts";
import { checkPhone, maskPhone } from "./kit/phone.ts";

/** The one spelling of an address under which its channel keeps it, or why it cannot be one. */
export const checkAddress = (channel: SendableChannel, given: string): Checked =>
  definitions[channel].address.check(given.trim());

/** The same for an address that a person tells others, also on a channel that nothing can be sent over yet. */
export const checkContact = (channel: ContactChannel, given: string): Checked =>
  channel === "email" ? checkAddress(channel, given) : checkPhone(given.trim());

/** The key by which such an address is known as a person's, whichever channel it is used on. See core/domain/people/keys.ts. */
export const contactKey = (channel: ContactChannel, address: string): string =>
  personKey(channel === "email" ? "email" : "phone", address);

/** An address as it may be shown: what recognises it, too little to use it. */
export const maskAddress = (channel: Channel, address: string): string =>
  definitionOf(channel)?.address.mask(address) ?? (isContact(channel) ? maskPhone(address) : "•••");
