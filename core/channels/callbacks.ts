import type { Channel } from "../schema/vocabulary/channels.ts";
import type { OpenAccount } from "./accounts.ts";
import { bounceMail } from "./email/callbacks/bounce-mail.ts";
import { mailgun } from "./email/callbacks/mailgun.ts";
import { postmark } from "./email/callbacks/postmark.ts";
import { sendgrid } from "./email/callbacks/sendgrid.ts";
import { ses } from "./email/callbacks/ses.ts";
import { smtpMail, smtpProvider } from "./email/callbacks/smtp.ts";
import { hms } from "./hms-push/callbacks/hms.ts";
import type {
  Callback,
  CallbackContent,
  CallbackDefinition,
  CallbackRequest,
  Certified,
  Verdict,
} from "./kit/callbacks.ts";
import { ownProvider, ownReceipts } from "./kit/own-receipts.ts";
import { rcsCallbacks } from "./rcs/callbacks.ts";
import { twilio } from "./sms/callbacks/twilio.ts";
import { vonage } from "./sms/callbacks/vonage.ts";
import { meta } from "./whatsapp/callbacks.ts";
import { twilioWhatsapp, whatsappOverTwilio } from "./whatsapp/twilio-callbacks.ts";

/** The callbacks of a provider to the accounts that apps have on one channel. */
export type ProviderCallbacks = {
  channel: Channel;
  /** Null when `verify` checks the signature, too. */
  certified: Certified | null;
  /** `open` opens the app's account on the channel: null when it has none, which nothing can be verified for. */
  verify: (request: CallbackRequest, verifying: { open: OpenAccountOf; now: Date }) => Verdict;
  read: (callback: Callback) => CallbackContent;
  /** Null where no mails of people come. */
  mail: ((body: Buffer) => Buffer | null) | null;
};

export type OpenAccountOf = <C extends Channel>(channel: C) => OpenAccount<C> | null;

export const callbacksOf = <C extends Channel>(
  channel: C,
  { certified = null, verify, read, mail }: CallbackDefinition<OpenAccount<C>>,
): ProviderCallbacks => ({
  channel,
  certified,
  verify: (request, { open, ...verifying }) => {
    const account = open(channel);
    return account === null ? { kind: "unknown" } : verify(request, { ...verifying, account });
  },
  read,
  mail: mail ?? null,
});

/** By the provider's name in `/ingress/{provider}/{appId}`, a line for each: `twilio: callbacksOf("sms", twilio)`. */
export const callbacks: Readonly<Record<string, ProviderCallbacks | undefined>> = {
  hms: callbacksOf("hms_push", hms),
  [ownProvider]: callbacksOf("email", ownReceipts),
  twilio: callbacksOf("sms", twilio),
  "twilio-rcs": callbacksOf("rcs", rcsCallbacks),
  vonage: callbacksOf("sms", vonage),
  mail: callbacksOf("email", bounceMail),
  ses: callbacksOf("email", ses),
  sendgrid: callbacksOf("email", sendgrid),
  mailgun: callbacksOf("email", mailgun),
  postmark: callbacksOf("email", postmark),
  [smtpProvider]: callbacksOf("email", smtpMail),
  whatsapp: callbacksOf("whatsapp", meta),
  [whatsappOverTwilio]: callbacksOf("whatsapp", twilioWhatsapp),
};

export const callbackProviders: readonly string[] = Object.keys(callbacks);

/** Where a provider reaches us about an app's deliveries. `publicUrl` is the service's own address. */
export const callbackUrl = (publicUrl: string, provider: string, appId: string, part = ""): string =>
  `${publicUrl.replace(/\/+$/, "")}/ingress/${provider}/${appId}${part && `/${part}`}`;
