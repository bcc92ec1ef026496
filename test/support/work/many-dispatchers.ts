import type { ChunkRow, ScheduledChunk } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { planRange, type RangeDeps } from "../../../dispatcher/messages/ranges.ts";
import { type TurnDeps, turn } from "../../../dispatcher/messages/turn.ts";
import { aLease, aMessage, anApp, handClock } from "../rows/work.ts";

/** Milliseconds of a core. */
export type Costs = { turnMs: number; readMs: number; sendMs: number };

export type Outcome = {
  /** When the last chunk ended, counted from the first turn. */
  endedMs: number;
  sentTo: number;
  sentTwice: number;
  /** Of each dispatcher: the chunks that it sent or planned. */
  chunksOfEach: number[];
  turns: number;
};

/** Chunks that a dispatcher works on at once. */
const slotsOfEach = 4;

type Given = { dispatchers: number; audience: number; costs: Costs; openChunks: number };

/**
 * A message to a segment that dispatchers plan and send, in simulated time: the turns and the planning are the service's own,
 * over chunks in memory. A dispatcher has one core, which the chunks share that it works on.
 */
export const sendByMany = async (given: Given): Promise<Outcome> => {
  const { dispatchers, audience, costs } = given;
  const [chunks, hints, sent] = [new Map<string, ChunkRow>(), [] as string[], new Set<string>()];
  const deps = inMemory(chunks, hints, given);
  const outcome: Outcome = { endedMs: 0, sentTo: 0, sentTwice: 0, chunksOfEach: Array(dispatchers).fill(0), turns: 0 };
  const inHand: number[] = Array(dispatchers).fill(0);
  const { at, next } = agenda();
  let message = toEveryone();
  const turns = { isDue: true, isTaken: false };

  const takeTurn = async (): Promise<void> => {
    Object.assign(turns, { isDue: false, isTaken: true });
    const result = await turn(deps)({ ...message, fence: ++outcome.turns }, anApp(), aLease());
    if (result.kind === "under_way") message = { ...message, planned: result.planned };
    at(costs.turnMs, () => (turns.isTaken = false));
  };
  /** Has the dispatcher with the fewest chunks take the next one; false when none has room. */
  const take = async (): Promise<boolean> => {
    const dispatcher = inHand.indexOf(Math.min(...inHand));
    const id = (inHand[dispatcher] ?? 0) < slotsOfEach ? hints.shift() : undefined;
    if (id === undefined) return false;
    const chunk = stored(chunks, id);
    const isRange = chunk.range_after !== undefined;
    if (isRange) await planRange(deps)({ chunk: { ...chunk, fence: 1 }, message }, aLease());
    const workMs = isRange ? rowsOf(chunk, audience) * costs.readMs : chunk.recipients.length * costs.sendMs;
    const sharing = ++inHand[dispatcher]!;
    at(workMs * sharing, () => {
      outcome.sentTwice += chunk.recipients.filter((recipient) => sent.has(recipient)).length;
      for (const recipient of chunk.recipients) sent.add(recipient);
      chunks.set(id, { ...chunk, status: "done", recipients: [] });
      outcome.chunksOfEach[dispatcher]! += 1;
      inHand[dispatcher]! -= 1;
      turns.isDue = true;
    });
    return true;
  };
  do {
    if (turns.isDue && !turns.isTaken) await takeTurn();
    while (await take());
    outcome.endedMs = next() ?? outcome.endedMs;
  } while (turns.isTaken || turns.isDue || inHand.some((chunksOfOne) => chunksOfOne > 0));
  return { ...outcome, sentTo: sent.size };
};

/** What happens at simulated instants; `next` does what comes first and gives its instant, null when nothing is left. */
const agenda = () => {
  const entries: { atMs: number; act: () => unknown }[] = [];
  let nowMs = 0;
  return {
    at: (inMs: number, act: () => unknown): void => void entries.push({ atMs: nowMs + inMs, act }),
    next: (): number | null => {
      entries.sort((a, b) => a.atMs - b.atMs);
      const first = entries.shift();
      if (first === undefined) return null;
      first.act();
      return (nowMs = first.atMs);
    },
  };
};

const toEveryone = (): MessageRow =>
  aMessage({
    target: { filters: { all: [] } },
    aim: { isEveryone: true, included: [], excluded: [], filter: { all: [] }, segments: [] },
  });

const stored = (chunks: Map<string, ChunkRow>, id: string): ChunkRow => {
  const chunk = chunks.get(id);
  if (chunk === undefined) throw new Error(`no chunk ${id}`);
  return chunk;
};

const rowsOf = ({ range_after: after = "", scanned }: ChunkRow, audience: number): number =>
  Math.min(numberOf(scanned?.after ?? ""), audience - 1) - numberOf(after);

const idOf = (n: number): string => `sub_${String(n).padStart(9, "0")}`;
const numberOf = (id: string): number => (id === "" ? -1 : id.endsWith("~") ? Infinity : Number(id.slice(4)));

/** The stores of turns and of planning. */
const inMemory = (
  chunks: Map<string, ChunkRow>,
  hints: string[],
  { audience, openChunks }: Given,
): RangeDeps & TurnDeps => {
  const of = (status: ChunkRow["status"]) => [...chunks.values()].filter((chunk) => chunk.status === status);
  const range = (after: string, until: number, limit: number): string[] => {
    const first = numberOf(after) + 1;
    const count = Math.max(0, Math.min(limit, Math.min(until, audience - 1) - first + 1));
    return Array.from({ length: count }, (_, n) => idOf(first + n));
  };
  return {
    ranges: {
      look: async ({ after, limit }) => {
        const ids = range(after, Infinity, limit);
        return { ids, looked: ids.length, isWhole: ids.length < limit, areFew: false };
      },
      nthBehind: async (_of, after, n) => {
        const nth = numberOf(after) + n;
        return nth < audience ? idOf(nth) : null;
      },
      within: async function* ({ after, until }) {
        for (
          let ids = range(after, numberOf(until), 500);
          ids.length > 0;
          ids = range(ids.at(-1) ?? "", numberOf(until), 500)
        )
          yield ids;
      },
    },
    chunks: {
      last: async () =>
        [...chunks.values()]
          .filter(({ parent_id: parent }) => parent === null)
          .sort((a, b) => b.position - a.position)[0] ?? null,
      isBegun: async () => chunks.size > 0,
      discardWaiting: async () => undefined,
      keep: async (made) => {
        const missing = made.filter(({ _id }) => !chunks.has(_id));
        for (const chunk of missing) chunks.set(chunk._id, chunk);
        return missing.length === made.length;
      },
      reachOf: async (id) => chunks.get(id)?.scanned?.after ?? null,
      countOpen: async () => of("open").length,
      countWaiting: async () => of("waiting").length,
      waiting: async (_id, limit) => of("waiting").slice(0, limit),
      open: async (ids) => {
        for (const id of ids) chunks.set(id, { ...stored(chunks, id), status: "open" });
      },
      nextScheduled: async (): Promise<ScheduledChunk[]> => [],
    },
    hints: { chunk: async ({ _id }) => void hints.push(_id) },
    audience: { page: async () => [], resolve: async () => new Map() },
    send: async () => ({ kind: "sent", stored: [], hasRetries: false }),
    messages: { wait: async () => true, begin: async () => true },
    keepRows: async () => false,
    openChunks: () => openChunks,
    clock: handClock(),
  };
};
