/** A process that takes part. `beat` grows with each of its writes; one that is leaving takes nothing any more. */
export type Member = { holder: string; beat: number; isLeaving: boolean };

/** Who owns a part; null: nobody. `fence` grows whenever a process takes it. */
export type Owner = { holder: string | null; fence: number };

/** Who takes part, and who owns each part of something. */
export type OwnerTable = { members: Member[]; owners: Owner[] };

/** What a process knows beside the table. */
export type Standing = {
  me: string;
  isLeaving: boolean;
  /** It is to own nothing for now. */
  isYielding?: boolean;
  /** Members that have died, as far as this process has seen. */
  gone: ReadonlySet<string>;
  /** Parts of its own for which it does nothing any more, so that another may take them. */
  drained: ReadonlySet<number>;
};

export type Balanced = {
  table: OwnerTable;
  /** Own parts that it is to give up once it has drained them. */
  excess: number[];
};

/**
 * The table as one process is to write it: it beats, takes free parts while it has fewer than it is due, and gives up
 * those above that which it has drained. Members that write one after another come to an even spread and then change
 * nothing; no part moves that need not.
 */
export const balance = (table: OwnerTable, standing: Standing): Balanced => {
  const { me, drained } = standing;
  const members = membersNow(table, standing);
  const present = new Set(members.map(({ holder }) => holder));
  const owners = table.owners.map((owner) => (present.has(owner.holder ?? "") ? owner : { ...owner, holder: null }));
  const mine = owners.flatMap(({ holder }, part) => (holder === me ? [part] : []));
  const due = standing.isYielding === true ? 0 : dueTo(me, members, owners);
  const excess = mine.slice(due);
  const given = new Set(excess.filter((part) => drained.has(part)));
  let wanted = due - mine.length;
  const after = owners.map((owner, part) => {
    if (given.has(part)) return { ...owner, holder: null };
    return owner.holder === null && wanted-- > 0 ? { holder: me, fence: owner.fence + 1 } : owner;
  });
  const hasLeft = standing.isLeaving && mine.length === given.size;
  return {
    table: { members: hasLeft ? members.filter(({ holder }) => holder !== me) : members, owners: after },
    excess,
  };
};

const membersNow = ({ members }: OwnerTable, { me, isLeaving, gone }: Standing): Member[] => {
  const beat = (members.find(({ holder }) => holder === me)?.beat ?? 0) + 1;
  const others = members.filter(({ holder }) => holder !== me && !gone.has(holder));
  return [...others, { holder: me, beat, isLeaving }];
};

/** How many parts a member is due: as many as any other, or one more where they do not divide: for who has most now. */
const dueTo = (me: string, members: readonly Member[], owners: readonly Owner[]): number => {
  const counts = new Map(members.filter(({ isLeaving }) => !isLeaving).map(({ holder }) => [holder, 0]));
  if (!counts.has(me)) return 0;
  for (const { holder } of owners)
    if (holder !== null && counts.has(holder)) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  const least = Math.floor(owners.length / counts.size);
  const counted = (holder: string): number => Math.min(counts.get(holder) ?? 0, least + 1);
  const ranked = [...counts.keys()].sort((a, b) => counted(b) - counted(a) || (a < b ? -1 : 1));
  return least + (ranked.indexOf(me) < owners.length % counts.size ? 1 : 0);
};
