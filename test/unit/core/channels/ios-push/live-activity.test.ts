import { expect } from "chai";
import { renderLiveActivity } from "#core/channels/ios-push/live-activity.ts";
import { apnsBody } from "#core/channels/ios-push/render.ts";
import type { LiveActivityPush } from "#core/channels/kit/live-activity.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import { liveActivityFault } from "../../../../../dev/simulators/kit/payloads.ts";

const at = new Date("2026-11-23T12:00:00.900Z");
const live: LiveActivityPush = {
  event: "update",
  activity_id: "order-1",
  type_name: "Order",
  content_state: { step: 1 },
  dismissal_date: 1_900_000_000,
  relevance_score: 0.5,
  stale_date: 1_800_000_000,
  priority: 5,
  at,
};
const alert: Content = { headings: { en: "Packed", de: "Gepackt" }, contents: { en: "Soon" }, ios_sound: "bell.caf" };

const payloadOf = (over: Partial<LiveActivityPush>, content: Content = {}, language: string | null = null) => {
  const push = renderLiveActivity({ ...live, ...over }, { content, language, ttlSeconds: 60 });
  return JSON.parse(apnsBody(push, "dlv_1")) as { aps: Record<string, unknown> };
};

describe("a push of a live activity", () => {
  it("updates with the state, in whole seconds, at the priority that was chosen", () => {
    expect(payloadOf({})).to.deep.equal({
      aps: {
        timestamp: at.getTime() / 1000 - 0.9,
        event: "update",
        "content-state": { step: 1 },
        "stale-date": 1_800_000_000,
        "relevance-score": 0.5,
      },
    });
    const push = renderLiveActivity(live, { content: {}, language: null, ttlSeconds: 60 });
    expect(push).to.include({ pushType: "liveactivity", priority: 5, ttlSeconds: 60, collapseId: null });
  });

  it("starts with the attributes, and says which activity it is", () => {
    expect(payloadOf({ event: "start", attributes: { shop: "x" } }).aps).to.deep.include({
      "attributes-type": "Order",
      attributes: { shop: "x", herald_activity_id: "order-1" },
      "input-push-token": 1,
    });
  });

  it("says when it leaves the Lock Screen as it ends, and only then", () => {
    expect(payloadOf({ event: "end" }).aps).to.include({ "dismissal-date": 1_900_000_000 });
    expect(payloadOf({ event: "start" }).aps).to.not.have.property("dismissal-date");
  });

  it("alerts in the recipient's language", () => {
    expect(payloadOf({}, alert, "de").aps["alert"]).to.deep.equal({
      title: "Gepackt",
      body: "Soon",
      sound: "bell.caf",
    });
  });

  for (const event of ["start", "update", "end"] as const) {
    it(`has no member that Apple does not know at ${event}`, () => {
      expect(liveActivityFault(payloadOf({ event }, alert))).to.equal(null);
    });
  }
});
