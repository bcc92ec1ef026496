import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import { type ChunkDeps, runChunk } from "../../../../dispatcher/messages/chunk.ts";
import { type PlanDeps, planMessage } from "../../../../dispatcher/messages/plan.ts";
import type { Sent } from "../../../../dispatcher/messages/send-chunks.ts";
import { aChunk, aMessage, anApp, handClock, noon, suspensionsOf } from "../../../support/rows/work.ts";

const broken = new Error("the disk is full");
const running = new AbortController().signal;
const reasonOf = (run: Promise<unknown>): Promise<unknown> => run.catch((error: unknown) => error);

type Chunks = ChunkDeps["chunks"];
type Messages = PlanDeps["messages"];

describe("a run of a chunk that fails", () => {
  const deps = (change: Partial<ChunkDeps> = {}, chunks: Partial<Chunks> = {}): { deps: ChunkDeps; dueAts: Date[] } => {
    const dueAts: Date[] = [];
    const giveBack = async (_: unknown, dueAt: Date): Promise<boolean> => dueAts.push(dueAt) > 0;
    return {
      dueAts,
      deps: {
        chunks: {
          take: async () => aChunk(),
          extend: async () => true,
          end: async () => true,
          giveBack,
          defer: giveBack,
          ...chunks,
        },
        messages: { content: async () => aMessage() },
        cancelWaiting: async () => undefined,
        directory: { app: async () => anApp() },
        send: async () => ({ kind: "sent", stored: [], hasRetries: false }),
        planRange: async () => ({ kind: "sent" }),
        aside: () => false,
        suspensions: suspensionsOf(),
        timing: timings.usual,
        hints: { message: async () => undefined },
        stopping: running,
        clock: handClock(),
        ...change,
      },
    };
  };

  it("gives the chunk back at once instead of keeping its lease, and tells the worker", async () => {
    const { deps: given, dueAts } = deps({ send: () => Promise.reject(broken) });
    expect(await reasonOf(runChunk(given)("chk_1"))).to.equal(broken);
    expect(dueAts).to.deep.equal([new Date(noon.getTime() + 5_000)]);
  });

  it("tells why it failed also when the chunk cannot be given back", async () => {
    const giveBack = () => Promise.reject(new Error("another"));
    const { deps: given } = deps({ send: () => Promise.reject(broken) }, { giveBack });
    expect(await reasonOf(runChunk(given)("chk_1"))).to.equal(broken);
  });

  it("leaves the chunk alone while its tenant is suspended", async () => {
    const { deps: given, dueAts } = deps({ suspensions: suspensionsOf("ten_1"), send: () => expect.fail("sent") });
    expect(await runChunk(given)("chk_1")).to.deep.equal({ kind: "done" });
    expect(dueAts).to.deep.equal([new Date(noon.getTime() + 60_000)]);
  });

  it("keeps the chunk from ending while its events cannot be published", async () => {
    let ended = 0;
    const end = async (): Promise<boolean> => ++ended > 0;
    const unpublished: Sent = { kind: "unpublished", stored: [], hasRetries: false };
    const { deps: given, dueAts } = deps({ send: async () => unpublished }, { end });
    await runChunk(given)("chk_1");
    expect(ended).to.equal(0);
    expect(dueAts).to.deep.equal([new Date(noon.getTime() + 5_000)]);
  });
});

describe("a turn of a message", () => {
  const deps = (
    change: Partial<PlanDeps> = {},
    messages: Partial<Messages> = {},
  ): { deps: PlanDeps; rests: [Date, boolean][] } => {
    const rests: [Date, boolean][] = [];
    return {
      rests,
      deps: {
        decide: async (message) => message,
        messages: {
          take: async () => aMessage(),
          extend: async () => true,
          needsTurn: async () => true,
          rest: async (_, dueAt, { planned }) => rests.push([dueAt, planned]) > 0,
          defer: async (_, dueAt, { planned }) => rests.push([dueAt, planned]) > 0,
          ...messages,
        },
        segments: { goneOf: async () => "seg_b" },
        directory: { app: async () => anApp() },
        turn: async () => ({ kind: "under_way", planned: false }),
        suspensions: suspensionsOf(),
        timing: timings.usual,
        finish: { complete: async () => undefined, fail: async () => undefined },
        stopping: running,
        clock: handClock(),
        ...change,
      },
    };
  };

  it("gives the message back when it fails, and tells the worker", async () => {
    const taken = aMessage({ planned: true });
    const { deps: given, rests } = deps({ turn: () => Promise.reject(broken) }, { take: async () => taken });
    expect(await reasonOf(planMessage(given)("msg_1"))).to.equal(broken);
    expect(rests).to.deep.equal([[new Date(noon.getTime() + 5_000), true]]);
  });

  it("fails a queued message of whose segments one is gone, and goes on with one that has begun", async () => {
    const failed: string[] = [];
    for (const [fence, planned] of [
      [1, false],
      [2, false],
      [2, true],
    ] as const) {
      const taken = aMessage({ fence, planned, segment_ids: ["seg_a", "seg_b"] });
      const fail = async (_: unknown, error: string): Promise<void> => void failed.push(`${fence} ${error}`);
      const { deps: given } = deps({ finish: { complete: async () => undefined, fail } }, { take: async () => taken });
      await planMessage(given)("msg_1");
    }
    expect(failed).to.deep.equal(["1 HS_NOT_FOUND: segment seg_b"]);
  });

  it("leaves a message alone while its tenant is suspended", async () => {
    const { deps: given, rests } = deps(
      { suspensions: suspensionsOf("ten_1"), turn: () => expect.fail("sent") },
      { take: async () => aMessage({ planned: true }) },
    );
    await planMessage(given)("msg_1");
    expect(rests).to.deep.equal([[new Date(noon.getTime() + 60_000), true]]);
  });

  it("is waited for longer and longer by those who find the message taken", async () => {
    const { deps: given } = deps({}, { take: async () => null });
    const delays: number[] = [];
    for (const attempt of [1, 2, 3, 20]) {
      const settlement: Settlement = await planMessage(given)("msg_1", attempt);
      delays.push(settlement.kind === "retry" ? settlement.delayMs : 0);
    }
    expect(delays).to.deep.equal([50, 100, 200, 2_000]);
  });

  it("passes the message on at once when the program stops, and soon when events could not be published", async () => {
    const stopped = AbortSignal.abort();
    for (const [stopping, inMs] of [
      [stopped, 0],
      [running, 5_000],
    ] as const) {
      const { deps: given, rests } = deps({ turn: async () => ({ kind: "halted" }), stopping });
      await planMessage(given)("msg_1");
      expect(rests).to.deep.equal([[new Date(noon.getTime() + inMs), false]]);
    }
  });
});
