import { expect } from "chai";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Delivered, Work } from "../../../../dispatcher/messages/delivery/work.ts";
import { observed } from "../../../../dispatcher/messages/observed.ts";
import { keptLog } from "../../../integration/core/queue/helpers.ts";
import { aChunk, aLease, aMessage, anApp, handClock, noon } from "../../../support/rows/work.ts";
import { recorder, tracedBy } from "../../../support/tracing/recorder.ts";

const sent = { sent_at: noon } as Delivered["stored"][number]; // sound: nothing else of it is looked at
const failed = {} as typeof sent; // sound: nothing of it is looked at
const nothing: Delivered = { stored: [], fresh: [], again: [], invalid: [], doubted: 0, halted: false };

/** Runs a chunk of a message that was accepted at noon; the run ends 3 s later. */
const run = async (
  change: { chunk?: Partial<ChunkRow>; message?: Partial<MessageRow>; delivered?: Partial<Delivered> } = {},
) => {
  const clock = handClock();
  const { tracer, spans } = recorder();
  const { log, lines } = keptLog();
  const metrics = createMetrics("dispatcher");
  let seen: Work | undefined;
  const deliver = observed({ tracer, log, metrics, clock }, async (work) => {
    seen = work;
    clock.tick(3_000);
    return { ...nothing, stored: [sent], ...change.delivered };
  });
  const message = aMessage({ created_at: noon, scheduled_for: null, traceparent: tracedBy(9), ...change.message });
  const chunk = aChunk({ position: 0, attempt: 0, fence: 1, ...change.chunk });
  await deliver({ chunk, message, app: anApp() }, aLease());
  const { values } = await (metrics.registry.getSingleMetric("herald_message_first_sent_seconds")?.get() ?? {
    values: [],
  });
  const of = (name: string) =>
    values.find((value) => "metricName" in value && value.metricName === `herald_message_first_sent_seconds_${name}`)
      ?.value;
  return { spans, lines, seen, count: of("count"), sum: of("sum") };
};

describe("the time until a message is sent", () => {
  it("is measured from its acceptance, or from when it was to be sent", async () => {
    expect(await run()).to.include({ count: 1, sum: 3 });
    const scheduled_for = new Date(noon.getTime() + 1_000);
    expect(await run({ message: { scheduled_for } })).to.include({ count: 1, sum: 2 });
  });

  for (const [it_is, change] of Object.entries({
    "a later chunk": { chunk: { position: 1 } },
    "a retry": { chunk: { attempt: 1 } },
    "a run after another one, as after a pause of its tenant": { chunk: { fence: 2 } },
    "a run that was halted": { delivered: { halted: true } },
    "a chunk without recipients": { delivered: { stored: [] } },
  })) {
    it(`is not measured by ${it_is}`, async () => {
      expect(await run(change)).to.include({ count: 0 });
    });
  }
});

describe("a run of a chunk", () => {
  it("of a traced message is a span, which all that it does is below of, and which its line names", async () => {
    const { spans, seen, lines } = await run({ delivered: { stored: [sent, sent, failed] } });
    expect(spans).to.have.lengthOf(1);
    expect(spans[0]).to.include({ name: "deliver ios_push", parent: tracedBy(9), isEnded: true });
    expect(spans[0]?.attributes).to.include({ "herald.recipients.sent": 2, "herald.recipients.failed": 1 });
    expect(seen?.message.traceparent).to.equal(tracedBy(1));
    expect(lines[0]).to.include({ event: "chunk.delivered", span_id: tracedBy(1).slice(36, 52) });
  });

  it("of any other message is none", async () => {
    const { spans, seen, lines } = await run({ message: { traceparent: null } });
    expect(spans).to.deep.equal([]);
    expect(seen?.message.traceparent).to.equal(null);
    expect(lines[0]).not.to.have.any.keys("trace_id", "span_id");
  });
});
