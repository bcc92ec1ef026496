import { Type } from "typebox";
import { Nullable } from "../../schema/json/common.ts";
import { worded } from "../../schema/json/patterns.ts";
import { defineAccount, secret, secretWith } from "../kit/account.ts";
import { badgeChangeOf } from "../kit/badge.ts";
import { bad, defineChannel, good } from "../kit/channel.ts";
import { maskToken, pushContent } from "../kit/push.ts";
import { anId } from "../kit/rendering.ts";
import { hmsBody, longestBadge, maxHmsBytes, renderHms } from "./render.ts";

const { String: Text } = Type;

const longestClass = 200;

const account = defineAccount(
  {
    app_id: Text({
      pattern: worded("^[0-9]{1,64}$", "must be 1 to 64 digits"),
      maxLength: 64,
      description: "app id of AppGallery Connect, which is also the client id of its OAuth client",
    }),
    badge_class: Nullable(
      Text({
        minLength: 1,
        maxLength: longestClass,
        pattern: worded(
          "^[A-Za-z][A-Za-z0-9_.$]*$",
          "must be the name of a Java class, such as com.example.shop.MainActivity",
        ),
        description: "entry activity of the app, e.g. com.example.shop.MainActivity; absent: no badge is set",
      }),
    ),
    client_secret: secret("client_secret"),
    callback_user: Nullable(
      Text({
        minLength: 1,
        maxLength: 256,
        description: "user name of the receipts, as set in AppGallery Connect; needs `callback_key` in the Secret",
      }),
    ),
    callback_key: secretWith("callback_user", "callback_key"),
  },
  {
    description: "Huawei Push Kit",
    secretHolds: "`client_secret`: the app secret of AppGallery Connect; `callback_key` when callbackUser is set",
  },
);

/** Huawei documents neither length nor alphabet; its examples have 30 to 160 characters. None that JSON would escape. */
const token = /^[A-Za-z0-9_:.%=+/-]{20,1024}$/;

/** Pushes to Huawei devices without Google's services. */
export const hmsPush = defineChannel({
  name: "hms_push",
  resourceMember: "huawei",
  providers: ["hms"],
  account,
  address: {
    schema: { pattern: worded(token.source, "must be a token of Push Kit") },
    check: (given) => (token.test(given) ? good(given) : bad("must be a token of Push Kit")),
    mask: maskToken,
  },
  content: pushContent,
  mayReachUnsubscribed: false,
  badge: badgeChangeOf,
  limit: {
    maxBytes: maxHmsBytes,
    body: (rendering) =>
      hmsBody(renderHms(rendering, "x".repeat(longestClass)), { tokens: [], tag: anId, badge: longestBadge }),
  },
  problems: ({ content: { data = {} } }) =>
    "herald" in data ? [{ field: "data.herald", message: "is reserved on Huawei devices" }] : [],
});
