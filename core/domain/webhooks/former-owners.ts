import type { Member, OwnerTable } from "./owners.ts";

/** The member of the last release's table that stands for all dispatchers of this release. */
const keeper = "partitions";

/** Whether a dispatcher of the last release takes part; `gone` are those that have died. */
export const hasFormerMember = ({ members }: OwnerTable, gone: ReadonlySet<string>): boolean =>
  members.some(({ holder }) => holder !== keeper && !gone.has(holder));

/** Whether this release owns all shares, so that no dispatcher of the last one can take any. */
export const isKept = ({ members, owners }: OwnerTable): boolean =>
  members.some(({ holder }) => holder === keeper) && owners.every(({ holder }) => holder === keeper);

/** How often this release has beaten in the table; 0 when it has no part in it. */
export const keeperBeat = ({ members }: Pick<OwnerTable, "members">): number =>
  members.find(({ holder }) => holder === keeper)?.beat ?? 0;

/** The highest fence in a table. */
export const highestFence = ({ owners }: OwnerTable): number => Math.max(...owners.map(({ fence }) => fence));

/** The table in which this release owns all shares: its next beat. What its dispatchers use has fences of `fence` at most. */
export const keptTable = (table: OwnerTable, fence: number): OwnerTable => {
  const members: Member[] = [{ holder: keeper, beat: keeperBeat(table) + 1, isLeaving: false }];
  return { members, owners: table.owners.map(() => ({ holder: keeper, fence: Math.max(fence, highestFence(table)) })) };
};

/** The table in which all shares are free for the last release, which takes them under fences above `fence`. */
export const freedTable = (table: OwnerTable, fence: number): OwnerTable => ({
  members: table.members.filter(({ holder }) => holder !== keeper),
  owners: table.owners.map(() => ({ holder: null, fence: Math.max(fence, highestFence(table)) })),
});
