import { http2Pool } from "../../../dispatcher/net/http2/pool.ts";
import { type Faults, startChaosPeer } from "./chaos-peer.ts";

export type ChaosResult = {
  answered: number;
  /** Without an answer: the provider may have taken them. */
  uncertain: number;
  /** Surely not sent, however often they were tried: they were asked for again. */
  askedAgain: number;
  /** Answered, or never heard of again, and not taken by the server. */
  lost: number;
  /** Taken by the server more than once. */
  twice: number;
  /** Uncertain, and not taken; or taken, and neither answered nor uncertain. */
  wronglyUncertain: number;
  beyondLimit: number;
  connections: number;
  faults: Faults;
};

const never = new AbortController().signal;
const width = 600;

/** Sends so many pushes to a server that fails in every way, one in `every`, and compares what both say of each. */
export const pushThroughChaos = async (plan: { pushes: number; every: number; seed: number }): Promise<ChaosResult> => {
  const peer = await startChaosPeer(plan);
  const pool = http2Pool({ origin: peer.origin, initialStreams: 1, quietMs: 300, pingTimeoutMs: 1_000, tickMs: 50 });
  const [answered, uncertain] = [new Set<string>(), new Set<string>()];
  let askedAgain = 0;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < plan.pushes) {
      const body = `push ${next++}`;
      for (let isDone = false; !isDone; ) {
        const { kind } = await pool.request({ path: "/", headers: {}, body, timeoutMs: 60_000, signal: never });
        if (kind === "answer") answered.add(body);
        if (kind === "broken") uncertain.add(body);
        isDone = kind !== "not_sent";
        if (!isDone) askedAgain++;
      }
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  const connections = pool.stats().opened;
  await pool.close();
  await peer.stop();
  const { taken, faults } = peer;
  const isKnown = (body: string): boolean => answered.has(body) || uncertain.has(body);
  return {
    answered: answered.size,
    uncertain: uncertain.size,
    askedAgain,
    lost: [...answered].filter((body) => !taken.has(body)).length + plan.pushes - answered.size - uncertain.size,
    twice: [...taken.values()].filter((times) => times > 1).length,
    wronglyUncertain:
      [...uncertain].filter((body) => !taken.has(body)).length +
      [...taken.keys()].filter((body) => !isKnown(body)).length,
    beyondLimit: peer.beyondLimit(),
    connections,
    faults,
  };
};
