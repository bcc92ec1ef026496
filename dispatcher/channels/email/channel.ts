import { createPrivateKey } from "node:crypto";
import type { OpenAccount } from "#core/channels/accounts.ts";
import { bounceSigner } from "#core/channels/email/bounce-address.ts";
import { renderEmail } from "#core/channels/email/render.ts";
import { fetchMedia } from "../../conversations/media/fetch.ts";
import { type Platform, rendered, type SendingChannel } from "../kit/provider.ts";
import { attaching } from "./attached.ts";
import { encodedMail } from "./mime-body.ts";
import { type SmtpAccount, smtp, smtpTimeoutMs } from "./smtp.ts";

export const email: SendingChannel<"email"> = {
  smtp: {
    timeoutMs: smtpTimeoutMs,
    open: (platform) => {
      const attach = attaching();
      const media = fetchMedia(platform.client);
      return (account, { appId }) => {
        const links = linksOf(platform, account, appId);
        const wanted = links === null ? "none" : (account.tracking ?? "all");
        const settings = {
          tracking: { opens: wanted === "all" || wanted === "opens", clicks: wanted === "all" || wanted === "clicks" },
          transactionalCategories: account.transactional_categories ?? [],
        };
        const provider = smtp({
          ...platform,
          connect: platform.client.connect,
          account: { ...smtpAccount(account), links },
        });
        const withFiles = attach(provider, { fetchMedia: media, clock: platform.clock, appId });
        return rendered(withFiles, (rendering) => encodedMail(renderEmail(rendering, settings)));
      };
    },
  },
};

/** Links of ours need https: RFC 8058 3.1 asks for it, and an address of this machine leads a reader nowhere. */
const linksOf = (
  { publicUrl, linkSigner: signer }: Platform,
  { tracking_url: own }: OpenAccount<"email">,
  appId: string,
): SmtpAccount["links"] => {
  const url = URL.parse(own ?? publicUrl);
  return url?.protocol === "https:" ? { base: url.href.replace(/\/+$/, ""), signer, appId } : null;
};

const smtpAccount = (account: OpenAccount<"email">): Omit<SmtpAccount, "links"> => {
  const { host, port, security, from_name: name, from_address: address, username, password } = account;
  const { dkim, bounces, sendgrid, postmark } = account;
  return {
    host,
    port,
    security,
    from: { name, address },
    login: username === null || password === null ? null : { username, password },
    dkim: dkim && { domain: dkim.domain, selector: dkim.selector, privateKey: createPrivateKey(dkim.private_key) },
    carrying: { sendgrid, postmark },
    bounces: bounces && { domain: bounces.domain, sign: bounceSigner(bounces).sign },
  };
};
