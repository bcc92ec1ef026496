import type { Channel, SendableChannel } from "../schema/vocabulary/channels.ts";
import { definitionOf, definitions } from "./all.ts";
import type { Checked } from "./kit/channel.ts";

/** The one spelling of an address under which its channel keeps it, or why it cannot be one. */
export const checkAddress = (channel: SendableChannel, given: string): Checked =>
  definitions[channel].address.check(given.trim());

/** An address as it may be shown: what recognises it, too little to use it. */
export const maskAddress = (channel: Channel, address: string): string =>
  definitionOf(channel)?.address.mask(address) ?? "•••";
