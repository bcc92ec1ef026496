import type { TwilioCredentials } from "../kit/twilio/account.ts";
import { twilioCallbacks } from "../kit/twilio/callbacks.ts";

/** Whose callbacks those of Twilio to accounts of `whatsapp` are. */
export const whatsappOverTwilio = "twilio-whatsapp";

type Account = { twilio: (Pick<TwilioCredentials, "auth_token"> & { sender: string }) | null };

/** Twilio's callbacks to accounts of `whatsapp`, about the account's own sender. */
export const twilioWhatsapp = twilioCallbacks<Account>((account) => account.twilio, {
  whatsappSender: ({ twilio }) => twilio?.sender ?? null,
});
