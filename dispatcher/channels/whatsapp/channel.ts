import { renderWhatsapp } from "#core/channels/whatsapp/render.ts";
import { rendered, type SendingChannel } from "../kit/provider.ts";
import { meta, metaTimeoutMs } from "./meta.ts";

export const whatsapp: SendingChannel<"whatsapp"> = {
  meta: {
    timeoutMs: metaTimeoutMs,
    open:
      ({ urls, rest, ...platform }) =>
      ({ phone_number_id, api_version, messages_per_second, access_token }) => {
        const account = {
          phoneNumberId: phone_number_id,
          apiVersion: api_version,
          accessToken: access_token,
          messagesPerSecond: messages_per_second,
        };
        return rendered(meta({ ...platform, open: rest.open, account, baseUrl: urls.meta }), renderWhatsapp);
      },
  },
};
