import { type CallbackDefinition, unknown } from "../../kit/callbacks.ts";

/**
 * Mails of people that the apiserver's own listener took over SMTP: the body is the mail. Nothing of it comes over HTTP.
 * Source: docs/reference/mail.md#over-smtp.
 */
export const smtpMail: CallbackDefinition<object> = {
  verify: () => unknown,
  read: () => ({ receipts: [], inbound: [] }),
  mail: (body) => body,
};

/** What these mails come over, as the provider of their messages. */
export const smtpProvider = "smtp";

/** The app that a mail is for: `<id of the app>@<domain of the listener>`, also with `+anything`. Null for any other address. */
export const appIdOf = (address: string, domain: string): string | null => {
  const at = address.lastIndexOf("@");
  if (address.slice(at + 1).toLowerCase() !== domain.toLowerCase()) return null;
  const [, id] = /^app_([0-9a-z]{26})(?:\+.*)?$/i.exec(address.slice(0, Math.max(at, 0))) ?? [];
  return id === undefined ? null : `app_${id.toUpperCase()}`;
};
