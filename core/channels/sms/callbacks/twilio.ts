import type { TwilioCredentials } from "../../kit/twilio/account.ts";
import { twilioCallbacks } from "../../kit/twilio/callbacks.ts";

/** Twilio's callbacks to accounts of `sms`. */
export const twilio = twilioCallbacks<{ twilio: Pick<TwilioCredentials, "auth_token"> | null }>(
  (account) => account.twilio,
);
