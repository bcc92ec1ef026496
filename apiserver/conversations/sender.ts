import { normalised } from "#core/channels/email/address.ts";
import { domainOf } from "#core/channels/email/message-id.ts";
import { AppError, invalid } from "#core/errors.ts";
import type { CreateConversation } from "#core/schema/conversations/conversation.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";

/**
 * What of the app somebody is written from: the sender that a body names, which has to be one of the account's, else its first.
 * @throws AppError HS_CHANNEL_NOT_CONFIGURED; ValidationError
 */
export const senderOf = (
  { channels }: Pick<AppRow, "channels">,
  { channel, sender_address: given }: Pick<CreateConversation, "channel" | "sender_address">,
): string => {
  if (channel === "email") return mailSenderOf(channels, given);
  const own = sendersOf(channels)[channel];
  if (own === undefined)
    throw new AppError("HS_CHANNEL_NOT_CONFIGURED", `the app has no account of ${channel}`, { channel });
  if (given !== undefined && own.length > 0 && !own.includes(given))
    throw invalid("sender_address", `must be one of the app's senders of ${channel}`);
  const sender = given ?? own[0];
  if (sender === undefined)
    throw invalid("sender_address", "is required, as the app's account names no sender but a Messaging Service");
  return sender;
};

/** Answers come to it: an address of the domain that the account sends from. */
const mailSenderOf = ({ email }: AppRow["channels"], given: string | undefined): string => {
  if (email === undefined)
    throw new AppError("HS_CHANNEL_NOT_CONFIGURED", "the app has no account of email", { channel: "email" });
  const from = normalised(email.from_address) ?? email.from_address;
  if (given === undefined) return from;
  const sender = normalised(given);
  if (sender === null || domainOf(sender) !== domainOf(from))
    throw invalid("sender_address", "must be a mail address of the domain that the app sends from");
  return sender;
};

/** The senders of each account; none of one that leaves it to a Messaging Service. */
const sendersOf = ({ whatsapp, sms, rcs }: AppRow["channels"]) => ({
  whatsapp: whatsapp && [whatsapp.twilio?.sender ?? whatsapp.phone_number_id ?? ""],
  sms: sms && (sms.twilio?.senders ?? sms.vonage?.senders ?? []),
  rcs: rcs && [rcs.sender],
});
