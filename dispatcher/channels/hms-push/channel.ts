import { renderHms } from "#core/channels/hms-push/render.ts";
import { rendered, type SendingChannel } from "../kit/provider.ts";
import { hms, hmsTimeoutMs } from "./hms.ts";

export const hmsPush: SendingChannel<"hms_push"> = {
  hms: {
    timeoutMs: hmsTimeoutMs,
    open:
      ({ urls, rest, ...platform }) =>
      ({ app_id: appId, client_secret: clientSecret, badge_class: badgeClass, callback_user: user }) => {
        const provider = hms({
          ...platform,
          open: rest.openHttp2,
          account: { appId, clientSecret, hasReceipts: user !== null },
          urls: urls.hms,
        });
        return rendered(provider, (rendering) => renderHms(rendering, badgeClass));
      },
  },
};
