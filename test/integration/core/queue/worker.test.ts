import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { Unavailable } from "#core/errors.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { type PublishOptions, publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { type HandlerContext, type Settlement, type WorkerOptions, worker } from "#core/queue/jetstream/worker.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import { type PrivateServer, privateServers } from "../../../support/servers/servers.ts";
import { until } from "../../../support/until.ts";
import { aQueue, keptLog, type Line, openQueue, testMetrics } from "./helpers.ts";

type Body = { n: number };
const never = (): AbortSignal => new AbortController().signal;
const usual = { stream: "worker", consumer: "work", concurrency: 8, timeoutMs: 5_000, timing: timings.usual };
const done: Settlement = { kind: "done" };

describe("worker", () => {
  let server: PrivateServer;
  let close: () => Promise<void>;
  let nats: Nats;
  let parts: Part[] = [];
  let lines: Line[] = [];
  let metrics = testMetrics();
  const spec = aQueue("worker", { ackWaitMs: 2_000 });
  /** What is not given back does not come again while a test waits. */
  const patientMs = 40_000;
  const patientSpec = aQueue("worker", { ackWaitMs: patientMs });

  before(async () => {
    const servers = await privateServers({ nats: true });
    [server, close] = [servers.nats, servers.close];
  });
  beforeEach(async () => {
    nats = await openQueue(server.url, spec);
    metrics = testMetrics();
  });
  afterEach(async () => {
    for (const part of parts) await part.stop(AbortSignal.timeout(100));
    parts = [];
    await nats.close();
  });
  after(() => close());
  const startWorker = async (
    handle: WorkerOptions<Body>["handle"],
    more: Partial<WorkerOptions<Body>> = {},
  ): Promise<Part> => {
    const kept = keptLog();
    lines = kept.lines;
    const part = worker<Body>({
      tracer: noTracer,
      nats,
      ...usual,
      parse: (input) => {
        if (typeof (input as Body).n !== "number") throw new TypeError("n is missing");
        return input as Body;
      },
      handle,
      name: "test worker",
      log: kept.log,
      metrics: metrics.queue,
      ...more,
    });
    parts.push(part);
    await part.start(never());
    return part;
  };
  const publish = async (count: number, more: PublishOptions = {}): Promise<void> => {
    const { publish } = publisher(nats);
    for (let n = 0; n < count; n++) await publish("worker.a", { n }, more);
  };
  const waiting = async (): Promise<number> => (await nats.jsm.streams.info("worker")).state.messages;
  const settled = async (settlement: string): Promise<number> => {
    const { values } = await metrics.queue.messages.get();
    return values.find(({ labels }) => labels.settlement === settlement)?.value ?? 0;
  };

  it("hands every message once to a handler, never more at a time than its concurrency", async () => {
    const seen: number[] = [];
    let now = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    await publish(200);
    await startWorker(async ({ n }) => {
      most = Math.max(most, ++now);
      if (now === 8) full.resolve();
      await full.promise;
      await new Promise((resolve) => setTimeout(resolve, n % 3));
      now--;
      seen.push(n);
      return done;
    });
    await until(async () => (await waiting()) === 0);
    expect(seen.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 200 }, (_, n) => n));
    expect(most).to.equal(8);
    expect(await settled("done")).to.equal(200);
  });

  it("hands on the subject, the attempt, whether it is a repeated one, and the trace context", async () => {
    const contexts: Omit<HandlerContext, "signal">[] = [];
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (const mayBeRepeated of [false, true]) await publish(1, { traceparent, mayBeRepeated });
    await startWorker(async (_, { signal: _signal, ...context }) => {
      contexts.push(context);
      return !context.isRepeated ? { kind: "retry", delayMs: 100, reason: "later" } : done;
    });
    await until(async () => (await waiting()) === 0);
    expect(contexts).to.deep.equal([
      { subject: "worker.a", attempt: 1, isRepeated: false, traceparent },
      { subject: "worker.a", attempt: 1, isRepeated: true, traceparent },
      { subject: "worker.a", attempt: 2, isRepeated: true, traceparent },
    ]);
    expect((await metrics.queue.redeliveries.get()).values[0]?.value).to.equal(1);
  });

  it("calls a handler that throws again after a second, with one line in the log", async () => {
    const atMs: number[] = [];
    await ensureStream(nats.jsm, patientSpec);
    await publish(1);
    await startWorker(async () => {
      atMs.push(Date.now());
      if (atMs.length === 1) throw new Error("broken");
      if (atMs.length === 2) throw new Unavailable("the database");
      return done;
    });
    await until(async () => (await waiting()) === 0, patientMs / 2); // by itself it would come again later
    const [first = 0, second = 0, third = 0] = atMs;
    expect(second - first).to.be.at.least(950);
    expect(third - second).to.be.at.least(1_950);
    expect(lines.map(({ event, level, attempt, delayMs }) => ({ event, level, attempt, delayMs }))).to.deep.equal([
      { event: "hint.failed", level: "error", attempt: 1, delayMs: 1_000 },
      { event: "hint.failed", level: "warn", attempt: 2, delayMs: 2_000 },
    ]);
    expect(await settled("failed")).to.equal(2);
  });

  it("drops what cannot be read and what the handler gives up, and says so", async () => {
    await nats.js.publish("worker.a", "{");
    await nats.js.publish("worker.a", JSON.stringify({ m: 1 }));
    await publish(1);
    await startWorker(async () => ({ kind: "drop", reason: "nobody wants it" }));
    await until(async () => (await waiting()) === 0);
    expect(lines.map(({ event }) => event).toSorted()).to.deep.equal([
      "hint.dropped",
      "hint.unreadable",
      "hint.unreadable",
    ]);
  });

  it("aborts a handler that takes too long, and retries", async () => {
    let calls = 0;
    await publish(1);
    await startWorker(
      async (_, { signal }) => {
        if (++calls > 1) return done;
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
        return done;
      },
      { timeoutMs: 200 },
    );
    await until(async () => (await waiting()) === 0);
    expect(calls).to.equal(2);
  });

  it("keeps a message of a long handler from being delivered again", async () => {
    let calls = 0;
    await publish(1);
    await startWorker(
      async () => {
        calls++;
        await new Promise((resolve) => setTimeout(resolve, 4_500)); // more than twice ack_wait
        return done;
      },
      { timing: { ackWaitMs: 2_000, ackBeatMs: 500 } },
    );
    await until(async () => (await waiting()) === 0);
    expect(calls).to.equal(1);
  });

  it("finishes what is in hand when it is to stop, and leaves the rest to others at once", async () => {
    let begun = 0;
    let finished = 0;
    await ensureStream(nats.jsm, patientSpec);
    await publish(20);
    const part = await startWorker(
      async () => {
        begun++;
        await new Promise((resolve) => setTimeout(resolve, 300));
        finished++;
        return done;
      },
      { concurrency: 4 },
    );
    await until(() => begun > 0);
    await part.stop(AbortSignal.timeout(5_000));
    expect(finished).to.equal(begun);
    await nats.nc.flush();
    await startWorker(async () => done);
    await until(async () => (await waiting()) === 0, patientMs / 2); // less than ack_wait
  });

  it("gives up what is in hand when the grace is over", async () => {
    await publish(1);
    let state: string = "waits";
    const hangs = async (_: unknown, { signal }: HandlerContext) => {
      state = "begun";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      state = "aborted";
      throw new Error("aborted");
    };
    const part = await startWorker(hangs, { timeoutMs: 60_000 });
    await until(() => state === "begun");
    const beganMs = Date.now();
    await part.stop(AbortSignal.timeout(200));
    expect(state).to.equal("aborted");
    expect(Date.now() - beganMs).to.be.below(30_000); // its own time is a minute
  });

  it("goes on by itself when JetStream was stopped for 5 s", async () => {
    const seen = new Set<number>();
    await startWorker(async ({ n }) => {
      seen.add(n);
      return done;
    });
    await publish(5);
    await until(() => seen.size === 5);
    await server.stop();
    await new Promise((resolve) => setTimeout(resolve, 5_000)); // the fault's own length
    await server.start();
    await until(() => nats.isConnected());
    const { publish: again } = publisher(nats);
    await again("worker.a", { n: 99 });
    await until(() => seen.has(99)); // a request that was lost is replaced after 6 s
  });

  it("goes on by itself when JetStream was killed in the midst of its work", async () => {
    const seen = new Set<number>();
    await publish(40);
    await startWorker(
      async ({ n }) => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        seen.add(n);
        return done;
      },
      { concurrency: 2 },
    );
    await until(() => seen.size > 4);
    await server.kill();
    await server.start();
    await until(() => seen.size === 40);
  });

  it("takes nothing for new after JetStream was killed, which forgets what it handed out last", async () => {
    const seen: Pick<HandlerContext, "attempt" | "isRepeated">[] = [];
    await startWorker(async ({ n }, { attempt, isRepeated }) => {
      if (n === 7) seen.push({ attempt, isRepeated });
      return done;
    });
    await server.kill();
    await until(() => !nats.isConnected());
    await server.start();
    await until(() => nats.isConnected());
    await publisher(nats).publish("worker.a", { n: 7 });
    await until(() => seen.length > 0);
    expect(seen[0]).to.deep.equal({ attempt: 1, isRepeated: true });
  });

  it("goes on by itself when its stream was deleted and made again", async () => {
    const seen = new Set<number>();
    await startWorker(async ({ n }) => {
      seen.add(n);
      return done;
    });
    await publish(1);
    await until(() => seen.has(0));
    await nats.jsm.streams.delete("worker");
    await until(() => lines.some(({ event }) => event === "consumer.away"));
    await ensureStream(nats.jsm, spec);
    await publisher(nats).publish("worker.a", { n: 7 });
    await until(() => seen.has(7));
    expect(lines.filter(({ event }) => event === "consumer.away")).to.have.length(1);
    expect(lines.filter(({ event }) => event === "consumer.back")).to.have.length(1);
  });

  it("waits for a consumer that is not there yet, with one line in the log", async () => {
    await nats.jsm.consumers.delete("worker", "work");
    const seen: number[] = [];
    await startWorker(async ({ n }) => {
      seen.push(n);
      return done;
    });
    await publish(1);
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // several tries
    expect(lines.map(({ event }) => event)).to.deep.equal(["consumer.away"]);
    await ensureStream(nats.jsm, spec);
    await until(() => seen.length === 1);
  });
});
