import type { TwilioCredentials } from "#core/channels/kit/twilio/account.ts";
import type { SmsText } from "#core/channels/sms/render.ts";
import { senderFor } from "#core/channels/sms/sender.ts";
import type { Provider } from "#core/domain/messages/outcome.ts";
import { restTakes } from "../../net/guarded/rest.ts";
import { type TwilioDeps, twilioMessages, validity } from "../kit/twilio/messages.ts";

export type TwilioSmsAccount = TwilioCredentials & {
  messaging_service_sid: string | null;
  senders: readonly string[] | null;
};

export type TwilioSmsDeps = Omit<TwilioDeps, "credentials"> & {
  account: TwilioSmsAccount;
  /** Where Twilio tells the statuses of a delivery. */
  statusUrl: (deliveryId: string) => string;
};

/** Sends SMS and MMS over Twilio. */
export const twilioSms = ({ account, statusUrl, ...deps }: TwilioSmsDeps): Provider<SmsText> => {
  const messages = twilioMessages({ ...deps, credentials: account });
  const senderOf = (given: string | null, address: string): [string, string] => {
    const from = given ?? (account.messaging_service_sid === null ? senderFor(account.senders ?? [], address) : null);
    return from === null ? ["MessagingServiceSid", account.messaging_service_sid ?? ""] : ["From", from];
  };
  return {
    name: "twilio",
    takes: restTakes,
    send: ({ text, mediaUrls, from, ttlSeconds }, { address, deliveryId }, ...cutting) => {
      const members: [string, string][] = [
        ["To", address],
        senderOf(from, address),
        ...(text === "" ? [] : [["Body", text] satisfies [string, string]]),
        ...mediaUrls.map((url): [string, string] => ["MediaUrl", url]),
        ["StatusCallback", statusUrl(deliveryId)],
        ...validity(ttlSeconds),
      ];
      return messages.create(members, ...cutting);
    },
    check: messages.check,
    close: messages.close,
  };
};
