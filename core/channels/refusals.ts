import type { Channel } from "../schema/vocabulary/channels.ts";
import type { Refusals, Refusing } from "./kit/refusals.ts";
import { twilioErrors } from "./kit/twilio/errors.ts";
import { vonageErrors } from "./sms/vonage-errors.ts";
import { metaErrors } from "./whatsapp/errors.ts";

/** No code is in two tables of one channel. */
const tables: Partial<Record<Channel, Refusals>> = {
  sms: { ...twilioErrors, ...vonageErrors },
  rcs: twilioErrors,
  whatsapp: { ...metaErrors, ...twilioErrors },
};

/** What a provider's error code means that is kept with a delivery; undefined for one that is in no table. */
export const refusingOf = (channel: Channel, providerCode: string): Refusing | undefined =>
  tables[channel]?.[providerCode];

/** Whether receipts of a channel may say that a delivery failed for now. */
export const mayFailForNow = (channel: Channel): boolean => channel in tables;
