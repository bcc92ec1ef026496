import { worded } from "../../schema/json/patterns.ts";
import { defineAccount, fromSecret, secret } from "../kit/account.ts";
import { bad, defineChannel, good } from "../kit/channel.ts";
import { maskToken, pushContent } from "../kit/push.ts";
import { anId } from "../kit/rendering.ts";
import { serviceAccount } from "../kit/service-account.ts";
import { fcmBody, isReservedDataKey, maxFcmBytes, renderFcm } from "./render.ts";

const file = "service_account.json";

const account = defineAccount(
  {
    project_id: fromSecret(file, (text) => serviceAccount(text).project_id),
    client_email: fromSecret(file, (text) => serviceAccount(text).client_email),
    token_uri: fromSecret(file, (text) => serviceAccount(text).token_uri),
    private_key: secret(file, (text) => serviceAccount(text).private_key),
  },
  {
    description: "Firebase Cloud Messaging, HTTP v1",
    secretHolds:
      "`service_account.json`: the Google service account's file, from which project_id, client_email, private_key and token_uri are read",
  },
);

/** `<installation id>:APA91b…`, about 160 characters; Google documents neither length nor alphabet. */
const token = /^[A-Za-z0-9_:.%-]{20,4096}$/;

/** Pushes to Android devices. */
export const androidPush = defineChannel({
  name: "android_push",
  resourceMember: "android",
  providers: ["fcm"],
  account,
  address: {
    schema: { pattern: worded(token.source, "must be a registration token of FCM") },
    check: (given) => (token.test(given) ? good(given) : bad("must be a registration token of FCM")),
    mask: maskToken,
  },
  content: pushContent,
  mayReachUnsubscribed: false,
  limit: { maxBytes: maxFcmBytes, body: (rendering) => fcmBody(renderFcm(rendering), "", anId) },
  problems: ({ content: { data = {} } }) =>
    Object.keys(data)
      .filter(isReservedDataKey)
      .map((key) => ({ field: `data.${key}`, message: "is reserved on Android" })),
});
