import { renderFcm } from "#core/channels/android-push/render.ts";
import { rendered, type SendingChannel } from "../kit/provider.ts";
import { fcm, fcmTimeoutMs } from "./fcm.ts";

export const androidPush: SendingChannel<"android_push"> = {
  fcm: {
    timeoutMs: fcmTimeoutMs,
    open:
      ({ urls, ...platform }) =>
      ({ project_id: projectId, client_email: clientEmail, token_uri: tokenUri, private_key: privateKeyPem }) => {
        const account = { projectId, clientEmail, tokenUri, privateKeyPem };
        return rendered(fcm({ ...platform, account, baseUrl: urls.fcm }), renderFcm);
      },
  },
};
