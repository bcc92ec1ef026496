import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { grouping } from "../../../../../dispatcher/webhooks/accept/group.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";
import { tracedBy } from "../../../../support/tracing/recorder.ts";

const now = new Date("2026-11-21T12:00:00Z");
let made = 0;
const anEvent = (): EventEnvelope =>
  makeEvent({ kind: "delivery.sent", appId: "app_1", subjectId: null, data: {}, at: now, from: [String(++made)] });

const setUp = (storing: () => Promise<void> = async () => undefined) => {
  const stored: { endpoint: string; events: number }[] = [];
  const kept: string[] = [];
  const shares: { count: number; isStoredFirst: boolean | undefined }[] = [];
  const traced: (readonly string[] | undefined)[] = [];
  const group = grouping({
    queues: {
      place: async ({ _id }, { count }, make, how) => {
        shares.push({ count, isStoredFirst: how?.isStoredFirst });
        await storing();
        for (const { payload, event_ids = [], traces } of make()) {
          traced.push(traces);
          const { events } = JSON.parse(payload) as { events: { id: string }[] }; // a batch's own text
          expect(events.map(({ id }) => id)).to.deep.equal(event_ids);
          kept.push(...event_ids);
          stored.push({ endpoint: _id, events: events.length });
        }
      },
    },
    deliveries: { grouped: async (_endpoint, ids) => new Set(ids.filter((id) => kept.includes(id))) },
    clock: { now: () => now },
  });
  return { stored, kept, shares, traced, group };
};

describe("grouping", () => {
  it("stores events in one delivery once there are a hundred", async () => {
    const { stored, group } = setUp();
    await Promise.all([group(aWebhook(), Array.from({ length: 99 }, anEvent)), group(aWebhook(), [anEvent()])]);
    expect(stored).to.deep.equal([{ endpoint: "whk_1", events: 100 }]);
  });

  it("stores what there is when the first has waited a second", async () => {
    const { stored, group } = setUp();
    const beganMs = performance.now();
    await Promise.all([group(aWebhook(), [anEvent()]), group(aWebhook(), [anEvent()])]);
    expect(stored).to.deep.equal([{ endpoint: "whk_1", events: 2 }]);
    expect(performance.now() - beganMs).to.be.at.least(900);
  });

  it("stores the oldest group early rather than have too many wait", async () => {
    const { stored, group } = setUp();
    const waiting = Array.from({ length: 49 }, (_, n) => group(aWebhook({ _id: `whk_${n}` }), [anEvent()]));
    await waiting[0];
    expect(stored).to.deep.equal([{ endpoint: "whk_0", events: 1 }]);
    await Promise.all(waiting);
    expect(stored).to.have.length(49);
  });

  it("names each trace that its events are of, but no more than 32", async () => {
    const { traced, group } = setUp();
    const untraced = tracedBy(99).replace(/01$/, "00");
    const contexts = [tracedBy(1), untraced, null, tracedBy(2), tracedBy(1)];
    await Promise.all(contexts.map((context) => group(aWebhook(), [anEvent()], context)));
    expect(traced).to.deep.equal([[tracedBy(1), tracedBy(2)]]);
    await group(aWebhook(), Array.from({ length: 100 }, anEvent), untraced);
    expect(traced.at(-1)).to.equal(undefined);
    await Promise.all(Array.from({ length: 40 }, (_, n) => group(aWebhook(), [anEvent()], tracedBy(n + 1))));
    expect(traced.at(-1)).to.have.lengthOf(32);
  });

  it("leaves an event that comes again to the batch that it was stored in, and has that looked at", async () => {
    const { stored, shares, group } = setUp();
    const events = Array.from({ length: 100 }, anEvent);
    await group(aWebhook(), events);
    await group(aWebhook(), events);
    expect(stored).to.deep.equal([{ endpoint: "whk_1", events: 100 }]);
    await group(aWebhook(), [...events.slice(0, 40), ...Array.from({ length: 60 }, anEvent)]);
    expect(stored.at(-1)).to.deep.equal({ endpoint: "whk_1", events: 60 });
    expect(shares.map(({ count }) => count)).to.deep.equal([1, 1, 2]);
    expect(shares.every(({ isStoredFirst }) => isStoredFirst === true)).to.equal(true);
  });

  it("stores an event once that comes twice within a moment", async () => {
    const release = Promise.withResolvers<void>();
    const { kept, group } = setUp(() => release.promise);
    const events = Array.from({ length: 100 }, anEvent);
    const both = [group(aWebhook(), events), group(aWebhook(), events)]; // the first is being stored meanwhile
    release.resolve();
    await Promise.all(both);
    expect(kept).to.have.length(100);
    const twice = anEvent();
    await Promise.all([group(aWebhook(), [twice]), group(aWebhook(), [twice])]);
    expect(kept).to.have.length(101);
  });

  it("goes on after a group that could not be stored", async () => {
    let isAway = true;
    const { stored, group } = setUp(async () => {
      if (isAway) throw new Error("away");
    });
    const events = Array.from({ length: 100 }, anEvent);
    const failed = await group(aWebhook(), events).catch((error: Error) => error.message);
    isAway = false;
    await group(aWebhook(), events);
    expect([failed, stored.length]).to.deep.equal(["away", 1]);
  });
});
