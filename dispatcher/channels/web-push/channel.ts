import { renderWebPush } from "#core/channels/web-push/render.ts";
import { rendered, type SendingChannel } from "../kit/provider.ts";
import { webPush as provider, webPushTimeoutMs } from "./web-push.ts";

export const webPush: SendingChannel<"web_push"> = {
  web_push: {
    timeoutMs: webPushTimeoutMs,
    open:
      (platform) =>
      ({ subject, public_key: publicKey, private_key: privateKey }) =>
        rendered(provider({ ...platform, account: { subject, publicKey, privateKey } }), renderWebPush),
  },
};
