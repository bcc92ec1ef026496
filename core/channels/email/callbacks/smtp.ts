import { type CallbackDefinition, unknown } from "../../kit/callbacks.ts";

/** Whose mails are that came over SMTP: no request over HTTP can be of it. */
export const smtpProvider = "smtp";

/** Mails that an apiserver took over SMTP wait in the queue like those that providers hand over. */
export const smtpMails: CallbackDefinition<unknown> = {
  verify: () => unknown,
  read: () => ({ receipts: [], inbound: [] }),
  mail: (body) => body,
};
