import type { DeliveryErrorCode } from "../../schema/vocabulary/delivery-error-codes.ts";

/** What is to be done about a failure, and whether sending again may help without that. */
export type Advice = { isRetryable: boolean; advice: string };

const never = (advice: string): Advice => ({ isRetryable: false, advice });
const later = (advice: string): Advice => ({ isRetryable: true, advice });

/** Of each code. What providers answer becomes one of these by their tables of outcomes. Source: docs/reference/messages.md#error-codes. */
const all: Readonly<Record<DeliveryErrorCode, Advice>> = {
  TOKEN_UNREGISTERED: never(
    "Nothing: the app was removed from the device, and the subscription is invalid from now on.",
  ),
  TOKEN_INVALID: never(
    "Check that the app registers tokens of the environment that the account is for: sandbox or production.",
  ),
  SENDER_MISMATCH: never("Use the account of the project or key under which the devices were registered."),
  PAYLOAD_TOO_LARGE: never("Shorten the content or its data: the provider takes a few kilobytes."),
  PROVIDER_AUTH: never("Renew the credentials of the account, and test it."),
  PROVIDER_RATE_LIMITED: later("Ask the provider for a higher rate, or send with a throttle."),
  PROVIDER_UNAVAILABLE: later("Wait: the provider had a failure of its own."),
  PROVIDER_REJECTED: never("Read provider_code of the deliveries: the provider refuses the sender or the request."),
  TEMPLATE_RENDER_FAILED: never("Render the template with the data of one of the recipients, and mend it."),
  TEMPLATE_REJECTED: never("Check the name, the language and the parameters of the template at the provider."),
  MEDIA_UNAVAILABLE: never("Check that anybody can fetch the media, and its type and size."),
  SESSION_CLOSED: never("Use a template: without one, people can be answered for 24 hours only."),
  RECIPIENT_UNREACHABLE: later("Try another channel: the number, or its phone, does not take messages on this one."),
  RECIPIENT_OPTED_OUT: never("Nothing: the recipient wants no more messages."),
  RECIPIENT_INVALID: never("Check the addresses where they are collected: this is none."),
  CONTENT_BLOCKED: never("Change the content, or register the sender and its campaign with the carriers."),
  LANDLINE: never("Use another channel: the number takes no texts."),
  MAILBOX_FULL: later("Nothing: the mailbox is full. Leave it out when it stays so."),
  HARD_BOUNCE: never("Nothing: there is no such mailbox, and its address is suppressed from now on."),
  SOFT_BOUNCE: later("Wait: the mail server refused it for as long as it was tried."),
  SPAM_REJECTED: never("Check SPF, DKIM and DMARC of the sender, and how many complain."),
  EXPIRED: later("Send with a longer ttl, or look for what held it up: a throttle, a provider that was away."),
  TIMEOUT: later("Wait: the provider did not answer in time."),
  SUPERSEDED: never("Nothing: a newer message took its place."),
  INTERNAL: later("Look into the log of the dispatchers."),
};

/** Null for what is no code. */
export const adviceOn = (code: string): Advice | null =>
  Object.hasOwn(all, code) ? all[code as DeliveryErrorCode] : null; // sound: it is one of its keys
