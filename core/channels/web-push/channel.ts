import { createECDH } from "node:crypto";
import { Type } from "typebox";
import { worded } from "../../schema/json/patterns.ts";
import { isSecure } from "../../schema/json/secure-address.ts";
import { defineAccount, fromSecret, secret } from "../kit/account.ts";
import { bad, defineChannel, good } from "../kit/channel.ts";
import { maskToken, pushContent } from "../kit/push.ts";
import { anId } from "../kit/rendering.ts";
import { BadSecret } from "../kit/secret-text.ts";
import { maxWebPushBytes, renderWebPush, webPushBody } from "./render.ts";

/** Source: RFC 8292; the public half follows from the private one. @throws BadSecret when the text is no such key */
const vapidPair = (text: string): { public: string; private: string } => {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== 32) throw new BadSecret("is not 32 bytes in base64url");
  const pair = createECDH("prime256v1");
  try {
    pair.setPrivateKey(bytes);
  } catch {
    throw new BadSecret("is not a private key of curve P-256");
  }
  return { public: pair.getPublicKey("base64url"), private: bytes.toString("base64url") };
};

const account = defineAccount(
  {
    subject: Type.String({
      minLength: 8,
      maxLength: 320,
      pattern: worded(
        "^(mailto:[^@\\s]+@[^@\\s]+|https://\\S+)$",
        "must be mailto: and a mail address, or an https address",
      ),
      description: "whom a push service may write to: mailto: or https: (RFC 8292)",
    }),
    public_key: fromSecret("private_key", (text) => vapidPair(text).public),
    private_key: secret("private_key", (text) => vapidPair(text).private),
  },
  {
    description: "web push with VAPID",
    secretHolds:
      "`private_key`: the VAPID key, 32 bytes in base64url; its public half appears in status.webPushPublicKey",
  },
);

/** Pushes to browsers. */
export const webPush = defineChannel({
  name: "web_push",
  resourceMember: "web",
  providers: ["web_push"],
  account,
  address: {
    schema: { pattern: worded("^https?://\\S+$", "must be the https endpoint of a PushSubscription"), maxLength: 2000 },
    check: (given) => (isEndpoint(given) ? good(given) : bad("must be the https endpoint of a PushSubscription")),
    mask: maskToken,
  },
  content: pushContent,
  mayReachUnsubscribed: false,
  limit: { maxBytes: maxWebPushBytes, body: (rendering) => webPushBody(renderWebPush(rendering), anId) },
});

const isEndpoint = (given: string): boolean => {
  const url = given.length <= 2000 ? URL.parse(given) : null;
  return url !== null && url.username === "" && url.hash === "" && isSecure(url);
};
