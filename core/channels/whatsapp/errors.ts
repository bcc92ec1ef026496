import type { Refusals, Refusing } from "../kit/refusals.ts";

/** The documents that {@link metaErrors} is read from. */
export const metaErrorSources = [
  "https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes",
  "https://developers.facebook.com/documentation/business-messaging/whatsapp/throughput", // 130429
  "https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids", // 131062
] as const;

/** Of the account: every recipient would be answered the same. */
const setUp: Refusing = { kind: "config_error", code: "PROVIDER_AUTH", fault: "provider" };
/** Of the account, and of this recipient or template: others may be taken. */
const notOfAll: Refusing = { kind: "config_error", code: "PROVIDER_REJECTED" };
const limited: Refusing = { kind: "retry_at", code: "PROVIDER_RATE_LIMITED" };
const unavailable: Refusing = { kind: "retry_at", code: "PROVIDER_UNAVAILABLE", fault: "provider" };
const unreachable: Refusing = { kind: "token_invalid", code: "RECIPIENT_UNREACHABLE", isDoubtful: true };
const rejected: Refusing = { kind: "payload_error", code: "PROVIDER_REJECTED" };
const template: Refusing = { kind: "payload_error", code: "TEMPLATE_REJECTED" };
const media: Refusing = { kind: "payload_error", code: "MEDIA_UNAVAILABLE" };

const meaning = (means: Refusing, reason: string, ...codes: number[]): [string, Refusing][] =>
  codes.map((code) => [String(code), { ...means, reason }]);

/** Every code that Meta documents for messages and for the number that sends them. */
export const metaErrors: Refusals = Object.fromEntries([
  ...meaning(setUp, "Meta refused the access token", 0, 190),
  ...meaning(setUp, "the access token lacks a permission", 3, 10, 131005),
  ...meaning(setUp, "Meta has restricted the business account", 368, 131031),
  ...meaning(setUp, "the business account has a problem with its payment", 131042),
  ...meaning(setUp, "the business phone number is gone or not registered", 33, 131045, 133000, 133010, 133015),
  ...meaning(setUp, "the business phone number must be verified again", 133005, 133006, 133008, 133009),
  ...meaning(setUp, "the name of the business phone number is not approved", 131037),
  ...meaning(notOfAll, "the business account may not write to this country", 130497),
  ...meaning(notOfAll, "the number is not on the list of a test account", 131030),
  ...meaning(notOfAll, "the terms of WhatsApp Payments are not accepted", 134011),

  ...meaning(limited, "too many requests for this app or business account", 4, 80007, 133016),
  ...meaning(limited, "too many messages from this number in a short time", 130429),
  ...meaning(limited, "too many messages to this person in a short time", 131056),
  ...meaning(limited, "the number is limited because of blocks and reports", 131048),
  ...meaning(limited, "too many messages with this flow", 132069),
  ...meaning(unavailable, "Meta has a fault or is overloaded", 2, 131000, 131016, 133004),
  ...meaning(unavailable, "the business account is being maintained", 131057),
  ...meaning({ kind: "retry_at", code: "PROVIDER_UNAVAILABLE" }, "the template is not ready yet", 134101),

  // no WhatsApp at the number; or its terms not accepted, too old a client, or a message held back: they may change
  ...meaning(unreachable, "nobody can be reached at this number", 131026),
  ...meaning({ kind: "payload_error", code: "RECIPIENT_INVALID" }, "the recipient is the sender", 131021),
  ...meaning({ kind: "payload_error", code: "RECIPIENT_OPTED_OUT" }, "the person wants no marketing messages", 131050),
  ...meaning({ kind: "payload_error", code: "SESSION_CLOSED" }, "the person wrote nothing for 24 hours", 131047),
  ...meaning(rejected, "Meta limits marketing messages to this person", 131049),
  ...meaning(rejected, "Meta keeps marketing messages from this person as an experiment", 130472),

  ...meaning(template, "the parameters do not fit the template", 132000, 132012, 132018),
  ...meaning(template, "there is no such template in this language, or it is not approved", 132001, 134102),
  ...meaning(template, "the text of the template is too long with its parameters", 132005),
  ...meaning(template, "the content breaks a rule for templates", 132007),
  ...meaning(template, "the template is paused or disabled for its quality", 132015, 132016),
  ...meaning(template, "the flow of the template is blocked", 132068),
  ...meaning(media, "Meta could not fetch the media, or not of this type and size", 131052, 131053),
  ...meaning(rejected, "Meta refused a parameter of the message", 1, 100, 131008, 131009, 135000),
  ...meaning(rejected, "Meta does not take messages of this type", 131051, 131055, 131062, 134100),
]);
