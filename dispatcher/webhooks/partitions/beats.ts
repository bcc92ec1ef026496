import type { OwnerTiming } from "#core/domain/timing.ts";
import type { Member } from "#core/domain/webhooks/owners.ts";

/**
 * Finds out which members have died: those whose beats stay the same for long, by the clock of the one who looks. So no
 * clocks of two machines are compared. To be called with every table that is read.
 */
export const beats = ({
  silentMs,
  goneMs,
  blindMs,
}: Pick<OwnerTiming, "silentMs" | "goneMs" | "blindMs">): ((
  members: readonly Member[],
  nowMs: number,
) => Record<"gone" | "silent", Set<string>>) => {
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
