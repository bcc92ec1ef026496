import { callbackUrl } from "#core/channels/callbacks.ts";
import { statusPart } from "#core/channels/kit/twilio/callbacks.ts";
import { usualApiVersion } from "#core/channels/whatsapp/channel.ts";
import { renderWhatsapp } from "#core/channels/whatsapp/render.ts";
import { whatsappOverTwilio } from "#core/channels/whatsapp/twilio-callbacks.ts";
import { renderTwilioWhatsapp } from "#core/channels/whatsapp/twilio-render.ts";
import { rendered, type SendingChannel } from "../kit/provider.ts";
import { twilioTimeoutMs } from "../kit/twilio/messages.ts";
import { meta, metaTimeoutMs } from "./meta.ts";
import { twilioWhatsapp } from "./twilio.ts";

export const whatsapp: SendingChannel<"whatsapp"> = {
  meta: {
    timeoutMs: metaTimeoutMs,
    open:
      ({ urls, rest, ...platform }) =>
      ({ phone_number_id: phoneNumberId, api_version, messages_per_second, access_token: accessToken }) => {
        if (phoneNumberId === null || accessToken === null) throw new Error("an account of meta without its members");
        const account = {
          phoneNumberId,
          apiVersion: api_version ?? usualApiVersion,
          accessToken,
          messagesPerSecond: messages_per_second,
        };
        return rendered(meta({ ...platform, open: rest.open, account, baseUrl: urls.meta }), renderWhatsapp);
      },
  },
  twilio: {
    timeoutMs: twilioTimeoutMs,
    open:
      ({ urls, publicUrl, contentTemplates: templates, ...platform }) =>
      ({ twilio: members, messages_per_second: messagesPerSecond }, app) => {
        if (members === null) throw new Error("an account of twilio without its members");
        const statusUrl = (id: string) => callbackUrl(publicUrl, whatsappOverTwilio, app.appId, statusPart(id));
        const addresses = { baseUrl: urls.twilio, contentUrl: urls.twilioContent, statusUrl };
        const account = { ...members, messagesPerSecond };
        return rendered(twilioWhatsapp({ ...platform, ...addresses, account, app, templates }), renderTwilioWhatsapp);
      },
  },
};
