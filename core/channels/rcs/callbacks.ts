import type { TwilioCredentials } from "../kit/twilio/account.ts";
import { twilioCallbacks } from "../kit/twilio/callbacks.ts";

/** Twilio's callbacks to accounts of `rcs`. A message whose sender is no RCS sender went out as SMS. */
export const rcsCallbacks = twilioCallbacks<Pick<TwilioCredentials, "auth_token">>((account) => account, {
  codeOf: (from) => (from === "" || from.startsWith("rcs:") ? null : "FALLBACK_SMS"),
});
