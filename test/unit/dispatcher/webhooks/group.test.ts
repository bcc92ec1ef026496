import { expect } from "chai";
import { makeEvent } from "#core/domain/events.ts";
import type { EventEnvelope } from "#core/schema/event.ts";
import { grouping } from "../../../../dispatcher/webhooks/group.ts";
import { aWebhook } from "../../../support/webhooks.ts";

const now = new Date("2026-11-21T12:00:00Z");
let made = 0;
const anEvent = (): EventEnvelope =>
  makeEvent({ kind: "delivery.sent", appId: "app_1", subjectId: null, data: {}, at: now, from: [String(++made)] });

const setUp = () => {
  const stored: { endpoint: string; events: number }[] = [];
  const group = grouping({
    offer: async ({ _id }, _count, make) => {
      for (const { payload } of make()) {
        const { events } = JSON.parse(payload) as { events: unknown[] }; // a batch's own text
        stored.push({ endpoint: _id, events: events.length });
      }
    },
    clock: { now: () => now },
  });
  return { stored, group };
};

describe("grouping", () => {
  it("stores events together once there are a hundred", async () => {
    const { stored, group } = setUp();
    await Promise.all([group(aWebhook(), Array.from({ length: 99 }, anEvent)), group(aWebhook(), [anEvent()])]);
    expect(stored).to.deep.equal([{ endpoint: "whk_1", events: 100 }]);
  });

  it("stores what there is when the first has waited a second", async () => {
    const { stored, group } = setUp();
    const beganMs = performance.now();
    await Promise.all([group(aWebhook(), [anEvent()]), group(aWebhook(), [anEvent()])]);
    expect(stored).to.deep.equal([{ endpoint: "whk_1", events: 2 }]);
    expect(performance.now() - beganMs).to.be.within(900, 2_500);
  });

  it("stores the oldest group early rather than have too many wait", async () => {
    const { stored, group } = setUp();
    const waiting = Array.from({ length: 49 }, (_, n) => group(aWebhook({ _id: `whk_${n}` }), [anEvent()]));
    await waiting[0];
    expect(stored).to.deep.equal([{ endpoint: "whk_0", events: 1 }]);
    await Promise.all(waiting);
    expect(stored).to.have.length(49);
  });
});
