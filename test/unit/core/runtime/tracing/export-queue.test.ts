import { ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { expect } from "chai";
import { exportQueue } from "#core/runtime/tracing/export-queue.ts";
import { until } from "../../../../support/until.ts";

type Export = Parameters<SpanExporter["export"]>;

/** Ends what the queues of a test still export, or would. */
const left: (() => Promise<void>)[] = [];

/** A queue whose exports the test ends itself. */
const aQueue = (most: number) => {
  const exports: Export[] = [];
  let isOver = false;
  const answer = ([, done]: Export): void => done({ code: ExportResultCode.SUCCESS });
  const counts: Record<string, number> = {};
  const changes: unknown[] = [];
  const queue = exportQueue({
    exporter: { export: (...given) => (isOver ? answer(given) : void exports.push(given)) },
    most,
    timeoutMs: 60_000,
    count: (outcome, spans) => (counts[outcome] = (counts[outcome] ?? 0) + spans),
    onChange: (error) => changes.push(error),
  });
  left.push(async () => {
    isOver = true;
    exports.forEach(answer); // again where it was ended, which changes nothing
    await queue.forceFlush();
  });
  const add = (count: number): void => {
    for (let n = 0; n < count; n++) queue.onEnd({} as ReadableSpan); // sound: the queue does not look into it
  };
  const end = async (code: ExportResultCode): Promise<void> => {
    exports.at(-1)?.[1]({ code });
    await new Promise(setImmediate);
  };
  return { queue, add, end, counts, changes, sizes: () => exports.map(([spans]) => spans.length) };
};

describe("the queue of spans", () => {
  afterEach(() => Promise.all(left.splice(0).map((end) => end())));

  it("exports at most 512 at once and one export at a time, as soon as there are so many", async () => {
    const { queue, add, end, counts, sizes } = aQueue(2_000);
    add(1_100);
    expect(sizes()).to.deep.equal([512]);
    await end(ExportResultCode.SUCCESS);
    expect(sizes()).to.deep.equal([512, 512]);
    await end(ExportResultCode.SUCCESS);
    expect(sizes(), "the rest waits for others").to.have.lengthOf(2);
    const flushed = queue.forceFlush();
    expect(sizes().at(-1)).to.equal(76);
    await end(ExportResultCode.SUCCESS);
    await flushed;
    expect(counts).to.deep.equal({ exported: 1_100 });
  });

  it("exports fewer a second after the first has come", async () => {
    const { add, sizes } = aQueue(2_000);
    const beganMs = performance.now();
    add(1);
    await until(() => sizes().length === 1);
    expect(performance.now() - beganMs).to.be.above(900);
  });

  it("drops what comes beyond its bound while an export hangs, and counts it", async () => {
    const { add, end, counts } = aQueue(600);
    add(512 + 600 + 7);
    expect(counts).to.deep.equal({ dropped: 7 });
    await end(ExportResultCode.SUCCESS);
    await end(ExportResultCode.SUCCESS);
    expect(counts).to.deep.equal({ dropped: 7, exported: 1_024 });
  });

  it("gives up what an export did not bring, counts it, and says so once", async () => {
    const { add, end, counts, changes } = aQueue(5_000);
    add(1_536);
    await end(ExportResultCode.FAILED);
    await end(ExportResultCode.FAILED);
    expect(changes).to.have.lengthOf(1);
    await end(ExportResultCode.SUCCESS);
    expect(counts).to.deep.equal({ failed: 1_024, exported: 512 });
    expect(changes).to.have.lengthOf(2);
    expect(changes[1]).to.equal(null);
  });

  it("exports what waits when it is flushed", async () => {
    const { queue, add, end, sizes } = aQueue(100);
    add(3);
    const flushed = queue.forceFlush();
    expect(sizes()).to.deep.equal([3]);
    await end(ExportResultCode.SUCCESS);
    await flushed;
  });
});
