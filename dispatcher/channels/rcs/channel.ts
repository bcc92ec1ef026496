import { callbackUrl } from "#core/channels/callbacks.ts";
import { statusPart } from "#core/channels/kit/twilio/callbacks.ts";
import { renderRcs } from "#core/channels/rcs/render.ts";
import { rendered, type SendingChannel } from "../kit/provider.ts";
import { twilioTimeoutMs } from "../kit/twilio/messages.ts";
import { twilioRcs } from "./twilio.ts";

export const rcs: SendingChannel<"rcs"> = {
  twilio: {
    timeoutMs: twilioTimeoutMs,
    open:
      ({ urls, publicUrl, contentTemplates: templates, ...platform }) =>
      (account, app) => {
        const statusUrl = (id: string) => callbackUrl(publicUrl, "twilio-rcs", app.appId, statusPart(id));
        const addresses = { baseUrl: urls.twilio, contentUrl: urls.twilioContent, statusUrl };
        return rendered(twilioRcs({ ...platform, ...addresses, account, app, templates }), renderRcs);
      },
  },
};
