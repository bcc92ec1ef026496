import type { OwnerTiming } from "#core/domain/timing.ts";
import {
  freedTable,
  hasFormerMember,
  highestFence,
  isKept,
  keeperBeat,
  keptTable,
} from "#core/domain/webhooks/former-owners.ts";
import type { OwnerTable } from "#core/domain/webhooks/owners.ts";
import type { FormerTableRow, OwnerTables, PartitionTableRow } from "#core/storage/webhooks/owners.ts";
import { beats } from "./beats.ts";

/** What of the table of partitions says who serves. */
export type Serving = Pick<PartitionTableRow, "serves" | "base">;

/** What a look at the last release's table has shown. */
export type FormerLook = {
  /** Whether dispatchers of the last release run: they serve, and those of this one only read. */
  isThere: boolean;
  /**
   * What the table of partitions is to say, once `owners` own them. To be asked before that is written. Null when another
   * process was quicker: all is to be read anew.
   */
  next: (before: Serving, owners: OwnerTable["owners"]) => Promise<Serving | null>;
  /** Says in the last release's table what the table of partitions says. To be called after that was written. */
  follow: (written: Serving & OwnerTable) => Promise<void>;
};

/**
 * Decides together with the last release which of the two serves endpoints (docs/decisions/0048, "Beside the last
 * release"). This release takes all shares before its table says that it serves, and frees them only after that says that
 * nobody serves and nobody owns a partition. The table of partitions is read before the last release's.
 */
export const lastRelease = (table: OwnerTables<FormerTableRow>, timing: OwnerTiming) => {
  const beatsOf = beats(timing);
  let seenBeat = 0;
  return async (now: Date, nowMs: number): Promise<FormerLook> => {
    const row = await table.read(now);
    const isThere = hasFormerMember(row, beatsOf(row.members, nowMs).gone);
    const hasBeaten = keeperBeat(row) !== seenBeat; // another dispatcher of this release has, which is enough
    seenBeat = keeperBeat(row);
    return {
      isThere,
      next: async ({ serves, base }, owners) => {
        if (isThere) return { serves: serves && owners.some(({ holder }) => holder !== null), base };
        if (serves && isKept(row)) return { serves, base };
        const fence = highestFence(row);
        return (await table.replace(row, keptTable(row, fence))) ? { serves: true, base: fence } : null;
      },
      follow: async ({ serves, base, owners, members }) => {
        const highest = base + highestFence({ owners, members });
        const isFollowed = hasBeaten && highest <= highestFence(row);
        if (serves && !isThere && !isFollowed && (await table.replace(row, keptTable(row, highest)))) seenBeat++;
        if (!serves && isThere && isKept(row)) await table.replace(row, freedTable(row, highest));
      },
    };
  };
};
