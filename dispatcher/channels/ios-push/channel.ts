import { renderApns } from "#core/channels/ios-push/render.ts";
import { rendered, type SendingChannel } from "../kit/provider.ts";
import { apns, apnsTimeoutMs } from "./apns.ts";
import { apnsChannels } from "./apns-channels.ts";
import { apnsTokens } from "./apns-tokens.ts";

export const iosPush: SendingChannel<"ios_push"> = {
  apns: {
    timeoutMs: apnsTimeoutMs,
    open: ({ urls, ...platform }) => {
      const tokens = apnsTokens(platform.clock);
      return ({ team_id: teamId, key_id: keyId, bundle_id: bundleId, environment, private_key: privateKeyPem }) => {
        const account = { teamId, keyId, bundleId, privateKeyPem };
        const broadcast = apnsChannels({ ...platform, account, tokens, baseUrl: urls.apnsChannels[environment] });
        const push = apns({ ...platform, account, tokens, baseUrl: urls.apns[environment] });
        return { ...rendered(push, renderApns), broadcast };
      };
    },
  },
};
