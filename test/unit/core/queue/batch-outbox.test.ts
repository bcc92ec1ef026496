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
          take: async () => row,
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
      const end = await box.resume(row._id, { dueAt: now, until: now }).catch((error: unknown) => error);
      expect(end instanceof Unavailable).to.equal(isAway);
      await box.stop(AbortSignal.timeout(1_000));
      expect(did).to.deep.equal({ confirmed: 0, givenBack: 0, ...wanted });
    });
  }
});
