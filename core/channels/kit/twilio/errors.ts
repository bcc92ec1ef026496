import type { Refusals, Refusing } from "../refusals.ts";

const setUp = (reason?: string): Refusing => ({
  kind: "config_error",
  code: "PROVIDER_AUTH",
  fault: "provider",
  ...(reason === undefined ? {} : { reason }),
});
const sender = (reason: string): Refusing => ({ kind: "config_error", code: "SENDER_MISMATCH", reason });
const message = (reason: string): Refusing => ({ kind: "payload_error", code: "PROVIDER_REJECTED", reason });
const media = (reason: string): Refusing => ({ kind: "payload_error", code: "MEDIA_UNAVAILABLE", reason });
const template = (reason: string): Refusing => ({ kind: "payload_error", code: "TEMPLATE_REJECTED", reason });
const blocked = (reason: string): Refusing => ({ kind: "payload_error", code: "CONTENT_BLOCKED", reason });
const spam = (reason: string): Refusing => ({ kind: "payload_error", code: "SPAM_REJECTED", reason });
const unreachable = (reason: string): Refusing => ({ kind: "token_invalid", code: "RECIPIENT_UNREACHABLE", reason });
const noNumber = (reason: string): Refusing => ({ kind: "token_invalid", code: "RECIPIENT_INVALID", reason });
const landline: Refusing = { kind: "token_invalid", code: "LANDLINE", reason: "the number is a landline" };
/** "powered off, has no service, […] or is otherwise temporarily unreachable": docs/api/errors/30003, read 2026-11-24. */
const away: Refusing = { kind: "retry_at", code: "RECIPIENT_UNREACHABLE", reason: "the phone cannot be reached" };
const optedOut: Refusing = { kind: "opted_out", code: "RECIPIENT_OPTED_OUT", reason: "the recipient has opted out" };
const limited: Refusing = { kind: "retry_at", code: "PROVIDER_RATE_LIMITED" };
const fault: Refusing = { kind: "retry_at", code: "PROVIDER_UNAVAILABLE", fault: "provider" };

/** The documents that {@link twilioErrors} is read from; each code has a page of its own below the first. */
export const twilioErrorSources = [
  "https://www.twilio.com/docs/api/errors",
  "https://www.twilio.com/docs/messaging/guides/debugging-tools#error-codes",
  "https://www.twilio.com/docs/messaging/api/message-resource#delivery-related-errors",
] as const;

/** Twilio's error codes of messages, by number. */
export const twilioErrors: Refusals = {
  10001: setUp("the Twilio account is not active"),
  20003: setUp("Twilio refuses the credentials"),
  20404: setUp("Twilio knows no such account or resource"),
  20429: limited,
  20500: fault,
  20503: fault,
  21211: noNumber("Twilio knows no such number"),
  21212: sender("the sender is no number"),
  21214: noNumber("the number cannot be reached"),
  21217: noNumber("it does not appear to be a number"),
  21219: sender("the number is not verified, as a trial account asks for"),
  21265: noNumber("a short code cannot be written to"),
  21266: noNumber("the number is the sender's own"),
  21408: { kind: "config_error", code: "PROVIDER_REJECTED", reason: "the account may not send to this region" },
  21601: sender("the sender cannot send messages"),
  21602: message("a text or media is missing"),
  21603: sender("a sender is missing"),
  21604: noNumber("a recipient is missing"),
  21605: message("the text is too long"),
  21606: sender("the sender cannot send messages to this number"),
  21608: { kind: "config_error", code: "PROVIDER_REJECTED", reason: "a trial account sends to verified numbers alone" },
  21609: setUp("Twilio cannot call the service's public address: see HERALD_PUBLIC_URL"),
  21610: { ...optedOut, suppress: "unsubscribe" },
  21611: limited, // the sender's queue is full
  21612: message("no route from this sender to this number"),
  21614: landline, // "'To' number is not a valid mobile number"
  21616: sender("several senders fit"),
  21617: { kind: "payload_error", code: "PAYLOAD_TOO_LARGE", reason: "the text has more than 1,600 characters" },
  21618: message("the text has characters that cannot be sent"),
  21619: message("a text or media is missing"),
  21620: media("the address of media cannot be used"),
  21621: sender("the sender cannot send pictures"),
  21622: sender("the sender cannot send pictures to this number"),
  21623: media("too many media"),
  21624: message("the validity period cannot be used"),
  21627: message("the price is too low"),
  21635: landline,
  21654: message("variables without a Content template"),
  21655: message("Twilio knows no such Content template"),
  21656: message("the variables of the Content template cannot be used"),
  21659: sender("the sender belongs to no number of the account"),
  21660: sender("the sender belongs to another account"),
  21661: sender("the sender cannot send SMS"),
  21664: message("a fallback sender beside a sender"),
  21666: setUp("a fallback asks for a Messaging Service"),
  21667: sender("the Messaging Service has no RCS sender"),
  21701: setUp("the Messaging Service is none of the account"),
  21703: sender("the Messaging Service has no senders"),
  21705: setUp("the Messaging Service cannot be used"),
  30001: { ...limited, reason: "the sender's queue was full" },
  30002: setUp("the Twilio account is suspended"),
  30003: away,
  // the number is blocked, has opted out, is not reachable now or takes no SMS, or a filter blocked the content: it tells
  // too little of the address to suppress it. Source: docs/api/errors/30004, read 2026-11-24
  30004: { kind: "payload_error", code: "RECIPIENT_UNREACHABLE", reason: "the recipient, or their carrier, blocks it" },
  30005: { ...unreachable("the number is unknown"), code: "RECIPIENT_INVALID" },
  // "the destination is a landline or […] a short code cannot reach the destination carrier": docs/api/errors/30006, read
  // 2026-11-24
  30006: { ...landline, reason: "a landline, or a carrier that cannot be reached", isDoubtful: true },
  30007: spam("Twilio or the carrier filtered it"), // docs/api/errors/30007, read 2026-11-24
  30008: { kind: "retry_at", code: "RECIPIENT_UNREACHABLE", reason: "the carrier gave no reason" },
  30009: message("a part of it was lost"),
  30010: message("its price exceeds the highest that is set"),
  30011: message("the carrier does not take pictures"),
  30012: message("its validity period is too short"),
  30017: { ...limited, reason: "the carrier's network is congested" },
  30018: message("the carrier asks for a sender that is registered"),
  30019: { kind: "payload_error", code: "PAYLOAD_TOO_LARGE", reason: "too large for the carrier" },
  30022: { ...limited, reason: "the campaign's rate is used up" },
  30023: { ...limited, reason: "the campaign's daily limit is used up" },
  30024: sender("the sender is not registered with the carrier"),
  30032: sender("the toll-free number is not verified"),
  30033: sender("the campaign is suspended"),
  30034: sender("the number is in no registered campaign"),
  30035: sender("the number was registered a moment ago"),
  30036: { kind: "payload_error", code: "EXPIRED", reason: "its validity period ended" },
  30037: blocked("the account's configuration blocks messages of this kind"),
  30038: blocked("it looks like a one-time password of another service"),
  30039: message("messages went round in a loop"),
  30040: sender("the recipient's carrier asks for a registered sender"),
  30044: { kind: "config_error", code: "PROVIDER_REJECTED", reason: "a trial account sends short texts alone" },
  30450: { kind: "config_error", code: "PROVIDER_REJECTED", reason: "blocked by SMS pumping protection" },
  30453: { kind: "config_error", code: "PROVIDER_REJECTED", reason: "blocked by SMS pumping protection" },
  63001: setUp("the channel refuses the account's credentials"),
  63002: sender("the channel knows no such sender"),
  63003: unreachable("the number is none of this channel"),
  63005: message("the channel does not take this content"),
  63006: message("the channel cannot format this content"),
  63007: sender("the channel knows no such sender"),
  63008: { ...fault, reason: "the channel's module is set up wrongly" },
  63009: { ...fault, reason: "the channel's provider has a fault" },
  63010: { ...fault, reason: "the channel's provider has a fault" },
  63011: { ...fault, reason: "the channel's provider has a fault" },
  63012: { ...fault, reason: "the channel's provider has a fault" },
  63013: blocked("it violates a policy of the channel"),
  63014: { ...optedOut, reason: "the recipient blocked the sender" },
  63015: message("the channel's sandbox knows this recipient not"),
  63016: { kind: "payload_error", code: "SESSION_CLOSED", reason: "the person wrote nothing for 24 hours" },
  63018: { ...limited, reason: "the channel limits the rate" },
  63019: media("media could not be fetched"),
  63020: setUp("Meta has restricted the business account"),
  63021: message("the channel does not take this content"),
  63022: sender("the name of the sender is not approved"),
  63023: { ...fault, reason: "the channel's provider has a fault" },
  // WhatsApp's 1026, as 131026: docs/whatsapp/tutorial/error-codes, read 2026-11-28
  63024: { ...noNumber("the channel knows no such recipient"), isDoubtful: true },
  63025: media("media exists already"),
  63027: template("there is no such template in this language, or it is not approved"),
  63028: template("the parameters do not fit the template"),
  63029: template("the recipient could not load the template"),
  63030: template("a parameter is not for a message of this type"),
  63032: message("WhatsApp does not bring this message to this person"),
  63040: template("Meta has rejected the template"),
  63041: template("the template is paused for its quality"),
  63042: template("the template is disabled"),
  63049: message("Meta limits marketing messages to this person"),
  63106: { ...unreachable("the phone does not take RCS"), kind: "payload_error" },
};
