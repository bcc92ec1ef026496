import { renderEmail } from "#core/channels/email/render.ts";
import { rendered, type SendingChannel } from "../kit/provider.ts";
import { smtp, smtpTimeoutMs } from "./smtp.ts";

export const email: SendingChannel<"email"> = {
  smtp: {
    timeoutMs: smtpTimeoutMs,
    open:
      (platform) =>
      ({ host, port, security, from_name: name, from_address: address, username, password, dkim }) => {
        const account = {
          host,
          port,
          security,
          from: { name, address },
          login: username === null || password === null ? null : { username, password },
          dkim: dkim && { domain: dkim.domain, selector: dkim.selector, privateKey: dkim.private_key },
        };
        return rendered(smtp({ ...platform, account }), renderEmail);
      },
  },
};
