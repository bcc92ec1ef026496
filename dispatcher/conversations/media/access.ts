import { type OpenAccount, openAccount } from "#core/channels/accounts.ts";
import type { TwilioCredentials } from "#core/channels/kit/twilio/account.ts";
import { usualApiVersion } from "#core/channels/whatsapp/channel.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Sealed } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { basicOf } from "../../channels/kit/twilio/messages.ts";
import { vonageTokens } from "../../channels/sms/vonage.ts";

/** How a provider's files are asked for with an app's account. */
export type MediaAccess = {
  /** Whose connections are used. */
  poolKey: string;
  /** Where the address of a file with this id is asked for; null where files have no ids. */
  lookUp: (id: string) => URL | null;
  /** What a request to an address carries: credentials where it is the provider's, nothing anywhere else. */
  headersFor: (url: URL) => Record<string, string>;
};

export type MediaAccessDeps = {
  unseal: (sealed: Sealed, context: string) => string;
  /** Where the providers are: https unless loopback. */
  urls: { twilio: string; vonage: string; meta: string };
  clock: Clock;
};

/** Channels of which messages have files. */
export type MediaChannel = "whatsapp" | "sms" | "rcs";

/** How files of an app's messages are asked for; null when it has no account on the channel any more. */
export const mediaAccess =
  ({ unseal, urls, clock }: MediaAccessDeps) =>
  (app: AppRow, channel: MediaChannel): MediaAccess | null => {
    const of = { poolKey: app._id };
    switch (channel) {
      case "whatsapp": {
        const account = openAccount(app, channel, unseal);
        if (account?.twilio) return { ...of, ...ofTwilio(account.twilio, urls.twilio) };
        return account && { ...of, ...ofMeta(account, urls.meta) };
      }
      case "rcs": {
        const account = openAccount(app, channel, unseal);
        return account && { ...of, ...ofTwilio(account, urls.twilio) };
      }
      case "sms": {
        const account = openAccount(app, channel, unseal);
        if (account?.twilio) return { ...of, ...ofTwilio(account.twilio, urls.twilio) };
        return account?.vonage ? { ...of, ...ofVonage(account.vonage, urls.vonage, clock) } : null;
      }
    }
  };

type Ways = Omit<MediaAccess, "poolKey">;

/** Source: developers.facebook.com, WhatsApp Business Platform, "Media": an id leads to an address that is good for minutes. */
const ofMeta = (account: OpenAccount<"whatsapp">, baseUrl: string): Ways => ({
  lookUp: (id) => {
    const url = new URL(baseUrl);
    url.pathname = `/${account.api_version ?? usualApiVersion}/${encodeURIComponent(id)}`;
    url.searchParams.set("phone_number_id", account.phone_number_id ?? "");
    return url;
  },
  headersFor: authorizedAt(
    baseUrl,
    [".facebook.com", ".fbsbx.com", ".whatsapp.net"],
    () => `Bearer ${account.access_token}`,
  ),
});

/** Source: twilio.com/docs/messaging/api/media-resource. The address leads on to a signed one of another host. */
const ofTwilio = (credentials: TwilioCredentials, baseUrl: string): Ways => ({
  lookUp: () => null,
  headersFor: authorizedAt(baseUrl, [".twilio.com"], () => basicOf(credentials)),
});

/** Source: developer.vonage.com, "Messages API", inbound media: what Vonage keeps itself is asked for with the application's token. */
const ofVonage = (account: { application_id: string; private_key: string }, baseUrl: string, clock: Clock): Ways => {
  const token = vonageTokens(account, clock);
  const bearer = (): string | null => {
    const value = token();
    return value === null ? null : `Bearer ${value}`;
  };
  return { lookUp: () => null, headersFor: authorizedAt(baseUrl, [".nexmo.com", ".vonage.com"], bearer) };
};

/** Carries credentials to the provider's own origin, and to https hosts of its domains. */
const authorizedAt =
  (baseUrl: string, domains: readonly string[], authorization: () => string | null) =>
  (url: URL): Record<string, string> => {
    const isOwn = url.origin === new URL(baseUrl).origin;
    const isTheirs = url.protocol === "https:" && domains.some((domain) => `.${url.hostname}`.endsWith(domain));
    const value = isOwn || isTheirs ? authorization() : null;
    return value === null ? {} : { authorization: value };
  };
