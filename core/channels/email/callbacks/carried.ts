import type { Receipt, ReceiptFact } from "../../../domain/messages/receipts.ts";
import { normalised } from "../address.ts";

/** The member by which providers carry our delivery id. */
export const carriedAs = "herald-delivery";

/** What of an account says whose callbacks it has. */
export type CarryingAccount = { sendgrid: object | null; postmark: object | null };

/**
 * Headers of a mail by which its provider carries our delivery id into every callback. Amazon SES and Mailgun tell the
 * Message-ID, which has it. Sources: Twilio SendGrid, "Unique Arguments" (X-SMTPAPI); Postmark, "Custom metadata FAQ"
 * (X-PM-Metadata-).
 */
export const carryingHeaders = (
  { sendgrid, postmark }: CarryingAccount,
  deliveryId: string,
): Record<string, string> => ({
  ...(sendgrid && { "X-SMTPAPI": JSON.stringify({ unique_args: { [carriedAs]: deliveryId } }) }),
  ...(postmark && { [`X-PM-Metadata-${carriedAs}`]: deliveryId }),
});

/** Our delivery id in what a provider carried, or in a Message-ID of ours; null when it is not ours. */
export const deliveryIdIn = (...texts: readonly (string | null)[]): string | null => {
  for (const text of texts) {
    const [, id] = /(?:^|<)\s*(dlv_[0-9A-HJKMNP-TV-Z]{26})(?=@|$)/.exec(text ?? "") ?? [];
    if (id !== undefined) return id;
  }
  return null;
};

/** A mail address as it is kept; null for what is none. */
export const mailAddress = (given: string | null): string | null => given && normalised(given.trim());

/** The receipts of one fact about a mail; none when its instant, or what it means, is not known. */
export const receiptOf = (
  about: Pick<Receipt, "deliveryId" | "providerId" | "address">,
  at: Date | null,
  fact: ReceiptFact | null,
): Receipt[] => (at === null || fact === null ? [] : [{ ...about, at, ...fact }]);
