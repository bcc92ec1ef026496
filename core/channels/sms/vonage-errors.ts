import type { Refusals, Refusing } from "../kit/refusals.ts";

const setUp = (reason: string): Refusing => ({
  kind: "config_error",
  code: "PROVIDER_AUTH",
  fault: "provider",
  reason,
});
const message = (reason: string): Refusing => ({ kind: "payload_error", code: "PROVIDER_REJECTED", reason });
const noNumber = (reason: string): Refusing => ({ kind: "token_invalid", code: "RECIPIENT_INVALID", reason });
const unreachable = (reason: string): Refusing => ({ kind: "token_invalid", code: "RECIPIENT_UNREACHABLE", reason });
const away = (reason: string): Refusing => ({ kind: "retry_at", code: "RECIPIENT_UNREACHABLE", reason });
const limited: Refusing = { kind: "retry_at", code: "PROVIDER_RATE_LIMITED" };
const fault: Refusing = { kind: "retry_at", code: "PROVIDER_UNAVAILABLE", fault: "provider" };
const optedOut: Refusing = { kind: "opted_out", code: "RECIPIENT_OPTED_OUT", reason: "the recipient has opted out" };

/** The documents that {@link vonageErrors} is read from. */
export const vonageErrorSources = [
  "https://developer.vonage.com/en/api-errors/messages",
  "https://developer.vonage.com/en/api-errors",
  "https://developer.vonage.com/en/opt-out-assist/guides/messaging-opted-out-numbers",
] as const;

/** Vonage's error codes: those of its Messages API by number, those of all its APIs by name. */
export const vonageErrors: Refusals = {
  1000: limited,
  1010: message("a member is missing"),
  1020: message("a member has a value that cannot be used"),
  1021: message("a tag cannot be used"),
  1022: message("a template cannot be used"),
  1030: fault,
  1040: message("Vonage cannot process it"),
  1050: { ...optedOut, reason: "the number is barred" },
  1060: setUp("the Vonage account is barred"),
  1070: setUp("the Vonage account has no credit"),
  1080: setUp("the Vonage account may not use this interface"),
  1090: { kind: "payload_error", code: "PAYLOAD_TOO_LARGE", reason: "too long" },
  1100: fault,
  1110: setUp("the signature was refused"),
  1120: { kind: "config_error", code: "SENDER_MISMATCH", reason: "the sender is not admitted" },
  1130: message("its time to live cannot be used"),
  1140: setUp("the Vonage account may not send this"),
  1150: message("its class cannot be used"),
  1160: { kind: "config_error", code: "PROVIDER_REJECTED", reason: "the account may not send to this number" },
  1170: noNumber("Vonage knows no such number"),
  1180: away("the phone cannot be reached"),
  1190: unreachable("the number is no longer in use"),
  1200: { kind: "payload_error", code: "RECIPIENT_UNREACHABLE", reason: "the number moved to another carrier" },
  1210: { kind: "payload_error", code: "SPAM_REJECTED", reason: "the carrier filtered it" },
  1220: away("the phone was busy"),
  1230: away("the network failed"),
  1240: optedOut,
  1241: { ...limited, reason: "too many messages to this number" },
  1250: { kind: "payload_error", code: "RECIPIENT_UNREACHABLE", reason: "no route to the number" },
  1260: { kind: "payload_error", code: "RECIPIENT_UNREACHABLE", reason: "the number could not be reached" },
  1270: { kind: "payload_error", code: "CONTENT_BLOCKED", reason: "the carrier blocked it for the recipient's age" },
  1280: { kind: "payload_error", code: "RECIPIENT_UNREACHABLE", reason: "the carrier blocks the number" },
  1290: { kind: "payload_error", code: "RECIPIENT_UNREACHABLE", reason: "the recipient has no credit" },
  1300: unreachable("the number is none of the network"),
  1310: { kind: "payload_error", code: "RECIPIENT_UNREACHABLE", reason: "the device cannot receive it" },
  1320: message("it was sent already"),
  1330: { kind: "payload_error", code: "RECIPIENT_UNREACHABLE", reason: "the carrier gave no reason" },
  1340: message("outside of the session only a template can be sent"),
  1350: setUp("a fee of the channel is not paid"),
  1360: { kind: "payload_error", code: "EXPIRED", reason: "its time to live ended" },
  1370: setUp("the channel's token has expired"),
  "low-balance": setUp("the Vonage account has no credit"),
  unauthorized: setUp("Vonage refuses the credentials"),
  forbidden: setUp("the Vonage account may not do this"),
  unprovisioned: setUp("the Vonage account may not use this interface"),
  "account-suspended": setUp("the Vonage account is suspended"),
  "jwt-expired": setUp("the token has expired: this machine's clock may be wrong"),
  "jwt-revoked": setUp("the token was revoked"),
  "invalid-api-key": setUp("Vonage knows no such key"),
  "invalid-signature": setUp("the signature was refused"),
  throttled: limited,
};
