import { Type } from "typebox";
import { Nullable } from "../../../schema/json/common.ts";
import { worded } from "../../../schema/json/patterns.ts";
import { secret, secretWith } from "../account.ts";

/** An identifier of Twilio's: two letters and 32 hexadecimal digits. Source: twilio.com/docs/glossary/what-is-a-sid. */
export const sid = (letters: string, description: string) =>
  Type.String({
    pattern: worded(`^${letters}[0-9a-fA-F]{32}$`, `must be ${letters} and 32 hexadecimal digits`),
    maxLength: 34,
    description,
  });

/** What Twilio is called with, and its callbacks are verified with: members of the accounts of several channels. */
export const twilioMembers = {
  account_sid: sid("AC", "the account's SID"),
  api_key_sid: Nullable(
    sid(
      "SK",
      "SID of an API key that messages are sent with; needs `api_key_secret` in the Secret. Else the auth token",
    ),
  ),
  auth_token: secret("auth_token"),
  api_key_secret: secretWith("api_key_sid", "api_key_secret"),
};

/** The keys that it asks the Secret for. */
export const twilioSecret =
  "`auth_token`: the account's primary auth token, by which callbacks are verified; `api_key_secret` when there is the SID of an API key";

/** The members of an open account that Twilio is spoken to with. */
export type TwilioCredentials = {
  account_sid: string;
  api_key_sid: string | null;
  auth_token: string;
  api_key_secret: string | null;
};
