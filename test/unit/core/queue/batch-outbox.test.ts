import { expect } from "chai";
import { Registry } from "prom-client";
import { Unavailable } from "#core/errors.ts";
import { batchOutbox } from "#core/queue/batch-outbox.ts";
import { queueMetrics } from "#core/runtime/metrics/queue.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { EventBatchRow, StoredEvent } from "#core/storage/events/batch-row.ts";

const now = new Date("2026-11-21T12:00:00Z");
const log = createLog({ program: "test", level: "error", destination: { write: () => undefined } });

const anEvent = (id: string): StoredEvent => ({ id, type: "audit.created", text: "{}", once: false });
const aBatch = (over: Partial<EventBatchRow> = {}): EventBatchRow => ({
  _id: "evb_1",
  tenant_id: "ten_1",
  app_id: "app_1",
  events: [anEvent("evt_1")],
  traceparent: null,
  due_at: now,
  lease: null,
  fence: 0,
  created_at: now,
  ...over,
});
const change = { collection: "webhooks", document_id: "whk_1", kind: "changed" } as const;

describe("what becomes of a stored batch", () => {
  const cases = [
    { it: "without a change is published", row: aBatch(), isTrue: true, expect: { published: 1, removed: 1 } },
    { it: "of a change that was made is published", row: aBatch({ change }), expect: { published: 1, removed: 1 } },
    {
      it: "of the last release is published without what others had before",
      row: aBatch({ events: [anEvent("evt_0"), anEvent("evt_1")] }),
      expect: { published: 1, removed: 1 },
    },
    {
      it: "of the last release is removed when others had all of it before",
      row: aBatch({ events: [anEvent("evt_0")] }),
      expect: { published: 0, removed: 1 },
    },
    {
      it: "of a change that was not made is dropped",
      row: aBatch({ change }),
      isTrue: false,
      expect: { published: 0, removed: 1 },
    },
    {
      it: "stays due, before those that came later, when JetStream is away",
      row: aBatch({ change }),
      isAway: true,
      expect: { published: 1, removed: 0, confirmed: 1, givenBack: 1 },
    },
    {
      it: "of a change that was made is certain from then on when JetStream has no room",
      row: aBatch({ change }),
      hasRoom: false,
      expect: { published: 1, removed: 0, confirmed: 1 },
    },
    {
      it: "without a change is left alone when JetStream has no room",
      row: aBatch(),
      hasRoom: false,
      expect: { published: 1, removed: 0 },
    },
  ];
  for (const { it: title, row, isTrue = true, hasRoom = true, isAway = false, expect: wanted } of cases) {
    it(title, async () => {
      const did = { published: 0, removed: 0, confirmed: 0, givenBack: 0 };
      const box = batchOutbox({
        batches: {
          take: async () => [row],
          giveBack: async () => void did.givenBack++,
          isTrue: async () => isTrue,
          confirm: async () => void did.confirmed++,
          keepAudit: async () => undefined,
          remove: async (ids) => void (did.removed += ids.length),
        },
        claims: { claimBatch: async () => new Set(["evt_0"]) },
        events: {
          offerTexts: async (_owner, events, how) => {
            did.published++;
            expect(events.map(({ id }) => id)).to.deep.equal(["evt_1"]);
            expect(how?.mayBeRepeated, "who stored it may have published it").to.equal(true);
            const away = isAway ? new Unavailable("JetStream") : null;
            return { left: hasRoom && !isAway ? [] : [...events], away };
          },
        },
        log,
        metrics: queueMetrics(new Registry()),
      });
      const end = await box.resume({ id: row._id, dueAt: now, until: now }).catch((error: unknown) => error);
      expect(end instanceof Unavailable).to.equal(isAway);
      await box.stop(AbortSignal.timeout(1_000));
      expect(did).to.deep.equal({ confirmed: 0, givenBack: 0, ...wanted });
    });
  }

  describe("that is due with others", () => {
    const plain = (n: number, over: Partial<EventBatchRow> = {}): EventBatchRow =>
      aBatch({ _id: `evb_${n}`, events: [anEvent(`evt_${n}`)], ...over });
    /** Resumes batches in one turn: what was offered together, and what became of each. */
    const resumed = async (rows: readonly EventBatchRow[], refuses: (ids: string[]) => "left" | Error | null) => {
      const offered: string[][] = [];
      const givenBack: string[] = [];
      const removed: string[] = [];
      let takes = 0;
      const box = batchOutbox({
        batches: {
          take: async (ids) => (takes++, rows.filter(({ _id: id }) => ids.includes(id))),
          giveBack: async (ids) => void givenBack.push(...ids),
          isTrue: async () => true,
          confirm: async () => undefined,
          keepAudit: async () => undefined,
          remove: async (ids) => void removed.push(...ids),
        },
        claims: { claimBatch: async () => new Set() },
        events: {
          offerTexts: async ({ appId }, events) => {
            const ids = events.map(({ id }) => id);
            offered.push([appId, ...ids]);
            const refused = refuses(ids);
            if (refused instanceof Unavailable) return { left: [...events], away: refused };
            if (refused instanceof Error) throw refused;
            return { left: refused === null ? [] : events.slice(-1), away: null };
          },
        },
        log,
        metrics: queueMetrics(new Registry()),
      });
      const ends = await Promise.allSettled(rows.map(({ _id: id }) => box.resume({ id, dueAt: now, until: now })));
      await box.stop(AbortSignal.timeout(1_000));
      return {
        takes,
        offered,
        givenBack,
        removed: removed.toSorted(),
        failed: ends.map(({ status }) => status === "rejected"),
      };
    };

    it("shares a message with those of its app, but for one of a change", async () => {
      const rows = [plain(1), plain(2, { app_id: "app_2" }), plain(3), plain(4, { change, audit: [] })];
      expect(await resumed(rows, () => null)).to.deep.equal({
        takes: 1,
        offered: [
          ["app_1", "evt_1", "evt_3"],
          ["app_2", "evt_2"],
          ["app_1", "evt_4"],
        ],
        givenBack: [],
        removed: ["evb_1", "evb_2", "evb_3", "evb_4"],
        failed: [false, false, false, false],
      });
    });

    it("stays stored alone when JetStream has room for the others", async () => {
      const { removed, failed } = await resumed([plain(1), plain(2), plain(3)], () => "left");
      expect({ removed, failed }).to.deep.equal({ removed: ["evb_1", "evb_2"], failed: [false, false, false] });
    });

    it("is due as it was, and no further app is asked for, when JetStream is away", async () => {
      const rows = Array.from({ length: 20 }, (_, n) => plain(n, { app_id: `app_${n}` }));
      const { offered, givenBack, removed, failed } = await resumed(rows, () => new Unavailable("JetStream"));
      expect(offered.length).to.be.below(rows.length);
      expect(givenBack).to.have.members(rows.map(({ _id: id }) => id));
      expect({ removed, failed }).to.deep.equal({ removed: [], failed: rows.map(() => true) });
    });

    it("fails alone when it is what cannot be published", async () => {
      const rows = [plain(1), plain(2), plain(3)];
      const wrong = (ids: string[]): Error | null => (ids.includes("evt_2") ? new Error("too large") : null);
      const { removed, givenBack, failed } = await resumed(rows, wrong);
      expect({ removed, givenBack, failed }).to.deep.equal({
        removed: ["evb_1", "evb_3"],
        givenBack: ["evb_2"],
        failed: [false, true, false],
      });
    });
  });
});
