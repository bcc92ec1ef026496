import { expect } from "chai";
import { fcmBody, renderFcm } from "#core/channels/android-push/render.ts";
import { apnsBody, renderApns } from "#core/channels/ios-push/render.ts";
import { renderWebPush, webPushBody } from "#core/channels/web-push/render.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import { apnsFault, fcmFault, webPushFault } from "../../../../../dev/simulators/kit/payloads.ts";
import { everyPushMember } from "../../../../support/api/push-members.ts";

const options = { collapse_id: "order-7" };
const rendering = (content: Content) => ({ messageId: "msg_1", content, options, language: null, ttlSeconds: 60 });
const apns = (content: Content): unknown => JSON.parse(apnsBody(renderApns(rendering(content)), "dlv_1", 3));
const fcm = (content: Content): unknown => JSON.parse(fcmBody(renderFcm(rendering(content)), "token", "dlv_1")).message;
const webPush = (content: Content): unknown => JSON.parse(webPushBody(renderWebPush(rendering(content)), "dlv_1"));

describe("what the simulators know of payloads", () => {
  const contents: Content[] = [
    everyPushMember,
    { contents: { en: "x" } },
    { data: { k: "v" } },
    { ...everyPushMember, ios_interruption_level: "critical", ios_badge_type: "SetTo" },
  ];
  for (const content of contents)
    it(`fits what is rendered of ${Object.keys(content).length} members`, () => {
      expect([apnsFault(apns(content)), fcmFault(fcm(content)), webPushFault(webPush(content))]).to.deep.equal(
        Array(3).fill(null),
      );
    });

  const wrong: { fault: string | null; member: string }[] = [
    { fault: apnsFault({ aps: { alert: { text: "x" } } }), member: "aps.alert.text" },
    { fault: apnsFault({ aps: { badge: "3" } }), member: "aps.badge" },
    { fault: apnsFault({ aps: { "relevance-score": 2 } }), member: "aps.relevance-score" },
    { fault: apnsFault({ aps: { "interruption-level": "loud" } }), member: "aps.interruption-level" },
    { fault: apnsFault({ aps: { "mutable-content": true } }), member: "aps.mutable-content" },
    { fault: fcmFault({ android: { notification: { color: "#ff00aa11" } } }), member: "android.notification.color" },
    { fault: fcmFault({ android: { notification: { group: "g" } } }), member: "android.notification.group" },
    { fault: fcmFault({ android: { priority: "10" } }), member: "android.priority" },
    { fault: fcmFault({ android: { ttl: 60 } }), member: "android.ttl" },
    { fault: fcmFault({ data: { n: 1 } }), member: "data.n" },
    { fault: webPushFault({ message_id: "m", delivery_id: "d", colour: "red" }), member: "colour" },
    {
      fault: webPushFault({ message_id: "m", delivery_id: "d", actions: [{ title: "x" }] }),
      member: "actions[0].action",
    },
    { fault: webPushFault({ message_id: "m" }), member: "delivery_id" },
  ];
  for (const { fault, member } of wrong)
    it(`names a wrong ${member}`, () => {
      expect(fault).to.contain(member);
    });
});
