import { Type } from "typebox";
import { worded } from "../../schema/json/patterns.ts";
import { defineAccount, secret } from "../kit/account.ts";
import { badgeChangeOf } from "../kit/badge.ts";
import { bad, defineChannel, good } from "../kit/channel.ts";
import { maskToken, pushContent } from "../kit/push.ts";
import { anId } from "../kit/rendering.ts";
import { BadSecret, privateKeyOf } from "../kit/secret-text.ts";
import { apnsBody, longestBadge, maxApnsBytes, renderApns } from "./render.ts";

const { Enum, String: Text } = Type;

/** Source: developer.apple.com, "Establishing a token-based connection to APNs": ES256. */
const apnsKey = (pem: string): string => {
  const key = privateKeyOf(pem);
  if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new BadSecret("is not an EC key of curve P-256");
  return pem;
};

const appleId = worded("^[A-Z0-9]{10}$", "must be 10 capital letters and digits");

const account = defineAccount(
  {
    team_id: Text({ pattern: appleId, maxLength: 10, description: "Apple developer team, 10 characters" }),
    key_id: Text({ pattern: appleId, maxLength: 10, description: "id of the APNs key, 10 characters" }),
    bundle_id: Text({
      minLength: 1,
      maxLength: 155,
      pattern: worded("^[A-Za-z0-9.-]+$", "must be letters, digits, - and ."),
      description: "bundle id of the iOS app; the topic of its pushes",
    }),
    environment: Enum(["production", "sandbox"], {
      default: "production",
      description: "which of Apple's two services the app's tokens belong to",
    }),
    private_key: secret("private_key", apnsKey),
  },
  {
    description: "APNs, by token authentication",
    secretHolds: "`private_key`: the APNs key as Apple gives it (.p8, PEM, EC P-256)",
  },
);

/** Apple does not promise a length: 32 bytes today, up to 100 in Live Activities; always hexadecimal here. */
const token = /^([0-9A-Fa-f]{2}){32,200}$/;

/** Pushes to Apple devices. */
export const iosPush = defineChannel({
  name: "ios_push",
  resourceMember: "ios",
  providers: ["apns"],
  account,
  address: {
    schema: { pattern: worded(token.source, "must be 64 to 400 hexadecimal digits, two for each byte") },
    check: (given) => (token.test(given) ? good(given.toLowerCase()) : bad("must be 64 or more hexadecimal digits")),
    mask: maskToken,
  },
  content: pushContent,
  mayReachUnsubscribed: false,
  badge: badgeChangeOf,
  limit: { maxBytes: maxApnsBytes, body: (rendering) => apnsBody(renderApns(rendering), anId, longestBadge) },
});
