import { expect } from "chai";
import { fcmBody, renderFcm } from "#core/channels/android-push/render.ts";
import type { LiveActivityPush } from "#core/channels/kit/live-activity.ts";
import { liveActivitySize } from "#core/channels/live-activity-size.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import { fcmFault, liveUpdateFault } from "../../../../../dev/simulators/kit/payloads.ts";

const at = new Date("2026-11-23T12:00:00.900Z");
const live: LiveActivityPush = {
  event: "update",
  activity_id: "order-1",
  type_name: "Order",
  attributes: { shop: "Corner" },
  content_state: { step: 1, note: 'a "quoted" word' },
  dismissal_date: 1_900_000_000,
  stale_date: 1_800_000_000,
  relevance_score: 0.5,
  priority: 10,
  at,
};
const alert: Content = { headings: { en: "Packed", de: "Gepackt" }, contents: { en: "Soon" }, ios_sound: "bell" };

const bodyOf = (over: Partial<LiveActivityPush>, content: Content = {}, language: string | null = null): string => {
  const rendering = { messageId: "msg_1", content, options: {}, language, ttlSeconds: 60 };
  return fcmBody(renderFcm({ ...rendering, live: { ...live, ...over } }), "token", "dlv_1");
};
const rendered = (...given: Parameters<typeof bodyOf>) => {
  const { message } = JSON.parse(bodyOf(...given));
  return { ...message, herald: JSON.parse(message.data.herald), update: JSON.parse(message.data.live_update) };
};

describe("a live activity's push to Android", () => {
  it("is data alone, which says everything that the device has to know", () => {
    const message = rendered({});
    expect(message.update).to.deep.equal({
      event: "update",
      activity_id: "order-1",
      activity_type: "Order",
      attributes: { shop: "Corner" },
      content_state: { step: 1, note: 'a "quoted" word' },
      timestamp: at.getTime(),
      stale_at: 1_800_000_000_000,
    });
    expect(message).to.not.have.property("notification");
    expect(message.herald).to.deep.equal({ delivery_id: "dlv_1", message_id: "msg_1" });
  });

  it("is urgent and never held back, or late and replaced by the next", () => {
    expect(rendered({}).android).to.deep.equal({ priority: "HIGH", ttl: "60s" });
    const later = { priority: "NORMAL", ttl: "60s", collapse_key: "order-1" };
    expect(rendered({ priority: 5 }).android).to.deep.equal(later);
  });

  it("says with the end alone when it is to go away, and the alert in the device's language", () => {
    const { update } = rendered({ event: "end" }, alert, "de");
    expect(update).to.include({ event: "end", dismiss_at: 1_900_000_000_000 });
    expect(update.alert).to.deep.equal({ title: "Gepackt", body: "Soon", sound: "bell" });
  });

  it("is what FCM and the app take", () => {
    for (const event of ["start", "update", "end"] as const) {
      const { herald: _, update, ...message } = rendered({ event }, alert);
      expect([fcmFault(message), liveUpdateFault(update)]).to.deep.equal([null, null]);
      expect(liveUpdateFault({ ...update, timestamp: "now" })).to.match(/timestamp/);
    }
  });
});

describe("the size of a live activity's push", () => {
  it("is that of what is sent, but for the token, in its largest language", () => {
    const { bytes, maxBytes } = liveActivitySize("android_push", live, alert);
    const ids = 2 * (30 - "msg_1".length); // of message and delivery
    const sent = Buffer.byteLength(bodyOf({}, alert, "de")) + ids + "28800s".length - "60s".length - "token".length;
    expect([bytes, maxBytes]).to.deep.equal([sent, 4096]);
  });

  it("leaves attributes of an update out on iOS", () => {
    const large = { ...live, attributes: { about: "a".repeat(4_096) } };
    expect(liveActivitySize("ios_push", large, {})).to.deep.equal(liveActivitySize("ios_push", live, {}));
    expect(liveActivitySize("android_push", large, {}).bytes).to.be.above(4_096);
  });
});
