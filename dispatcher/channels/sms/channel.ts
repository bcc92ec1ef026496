import { callbackUrl } from "#core/channels/callbacks.ts";
import { statusPart } from "#core/channels/kit/twilio/callbacks.ts";
import type { AppOfAccount, Platform, SendingChannel } from "../kit/provider.ts";
import { twilioTimeoutMs } from "../kit/twilio/messages.ts";
import { withShortLinks } from "./short-links.ts";
import { twilioSms } from "./twilio.ts";
import { vonage, vonageTimeoutMs } from "./vonage.ts";

export const sms: SendingChannel<"sms"> = {
  twilio: {
    timeoutMs: twilioTimeoutMs,
    open:
      ({ urls, publicUrl, ...platform }) =>
      ({ twilio: account }, app) => {
        if (account === null) throw new Error("an account of twilio without its members");
        const statusUrl = (id: string) => callbackUrl(publicUrl, "twilio", app.appId, statusPart(id));
        const provider = twilioSms({ ...platform, account, baseUrl: urls.twilio, statusUrl });
        return withShortLinks(linksOf({ publicUrl, ...platform }, app), provider);
      },
  },
  vonage: {
    timeoutMs: vonageTimeoutMs,
    open:
      ({ urls, publicUrl, ...platform }) =>
      ({ vonage: account }, app) => {
        if (account === null) throw new Error("an account of vonage without its members");
        const statusUrl = callbackUrl(publicUrl, "vonage", app.appId, "status");
        const provider = vonage({ ...platform, account, baseUrl: urls.vonage, statusUrl });
        return withShortLinks(linksOf({ publicUrl, ...platform }, app), provider);
      },
  },
};

const linksOf = (
  { publicUrl, keepLink, clock }: Pick<Platform, "publicUrl" | "keepLink" | "clock">,
  app: AppOfAccount,
) => ({
  app,
  urlOf: (code: string) => shortUrl(publicUrl, code),
  keep: keepLink,
  clock,
});

const shortUrl = (publicUrl: string, code: string): string => `${publicUrl.replace(/\/+$/, "")}/l/${code}`;
