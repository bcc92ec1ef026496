import type { Member } from "#core/domain/webhooks/shares.ts";

/** A member that has not written for so long is gone; longer than it may trust what it wrote last. */
const goneMs = 10_000;
/** One that has not written for so long may be gone: it is not waited for. */
const silentMs = 6_000;
/** Who has not looked for so long knows nothing of what others did meanwhile. */
const blindMs = 5_000;

/**
 * Finds out which members have died: those whose beats stay the same for long, by the clock of the one who looks. So no
 * clocks of two machines are compared. To be called with every table that is read.
 */
export const beats = (): ((members: readonly Member[], nowMs: number) => Record<"gone" | "silent", Set<string>>) => {
  let seen = new Map<string, { beat: number; sinceMs: number }>();
  let lookedMs = Number.NEGATIVE_INFINITY;
  return (members, nowMs) => {
    if (nowMs - lookedMs > blindMs) seen = new Map();
    lookedMs = nowMs;
    seen = new Map(
      members.map(({ holder, beat }) => {
        const before = seen.get(holder);
        return [holder, before?.beat === beat ? before : { beat, sinceMs: nowMs }];
      }),
    );
    const since = (ms: number) =>
      new Set([...seen].flatMap(([holder, { sinceMs }]) => (nowMs - sinceMs >= ms ? [holder] : [])));
    return { gone: since(goneMs), silent: since(silentMs) };
  };
};
