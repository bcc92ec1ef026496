import { linkAddress } from "#core/channels/email/links.ts";
import { type ClickAddress, renderWebPush } from "#core/channels/web-push/render.ts";
import { isSecure } from "#core/schema/json/secure-address.ts";
import { type Platform, rendered, type SendingChannel } from "../kit/provider.ts";
import { webPush as provider, webPushTimeoutMs } from "./web-push.ts";

export const webPush: SendingChannel<"web_push"> = {
  web_push: {
    timeoutMs: webPushTimeoutMs,
    open:
      (platform) =>
      ({ subject, public_key: publicKey, private_key: privateKey }, { appId }) => {
        const account = { subject, publicKey, privateKey };
        return rendered(provider({ ...platform, account, clickAddress: clicksOf(platform, appId) }), renderWebPush);
      },
  },
};

/** Leads over the service's own address, which counts the click; a browser follows https, and http of its own machine. */
const clicksOf = (
  { publicUrl, linkSigner }: Pick<Platform, "publicUrl" | "linkSigner">,
  appId: string,
): ClickAddress => {
  const own = URL.parse(publicUrl);
  if (own === null || !isSecure(own)) return () => null;
  const base = own.href.replace(/\/+$/, "");
  return (deliveryId, to) => {
    const isLed = to.length <= mostCharacters && /^https?:\/\//i.test(to) && URL.canParse(to);
    return isLed ? linkAddress(base, linkSigner, "c", { appId, deliveryId, to }) : null;
  };
};

const mostCharacters = 1_000; // a longer one leaves the payload no room
