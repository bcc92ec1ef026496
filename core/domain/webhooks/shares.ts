/** Shares of an installation: each endpoint belongs to one of them for as long as it is there. Stored rows name it. */
export const shareCount = 64;

/** The share of an endpoint: FNV-1a (32 bits) of its id. */
export const shareOf = (endpointId: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < endpointId.length; i++) hash = Math.imul(hash ^ endpointId.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % shareCount;
};

/** A process that takes part. `beat` grows with each of its writes; one that is leaving takes nothing any more. */
export type Member = { holder: string; beat: number; isLeaving: boolean };

/** Who owns a share; null: nobody. `fence` grows whenever a process takes it. */
export type Owner = { holder: string | null; fence: number };

/** Who takes part, and who owns each share. */
export type ShareTable = { members: Member[]; owners: Owner[] };

/** What a process knows beside the table. */
export type Standing = {
  me: string;
  isLeaving: boolean;
  /** Members that have died, as far as this process has seen. */
  gone: ReadonlySet<string>;
  /** Shares of its own for which it does nothing any more, so that another may take them. */
  drained: ReadonlySet<number>;
};

export type Balanced = {
  table: ShareTable;
  /** Own shares that it is to give up once it has drained them. */
  excess: number[];
};

/**
 * The table as one process is to write it: it beats, takes free shares while it has fewer than it is due, and gives up
 * those above that which it has drained. Members that write one after another come to an even spread and then change
 * nothing; no share moves that need not.
 */
export const balance = (table: ShareTable, standing: Standing): Balanced => {
  const { me, drained } = standing;
  const members = membersNow(table, standing);
  const present = new Set(members.map(({ holder }) => holder));
  const owners = table.owners.map((owner) => (present.has(owner.holder ?? "") ? owner : { ...owner, holder: null }));
  const mine = owners.flatMap(({ holder }, share) => (holder === me ? [share] : []));
  const due = dueTo(me, members, owners);
  const excess = mine.slice(due);
  const given = new Set(excess.filter((share) => drained.has(share)));
  let wanted = due - mine.length;
  const after = owners.map((owner, share) => {
    if (given.has(share)) return { ...owner, holder: null };
    return owner.holder === null && wanted-- > 0 ? { holder: me, fence: owner.fence + 1 } : owner;
  });
  const hasLeft = standing.isLeaving && mine.length === given.size;
  return {
    table: { members: hasLeft ? members.filter(({ holder }) => holder !== me) : members, owners: after },
    excess,
  };
};

const membersNow = ({ members }: ShareTable, { me, isLeaving, gone }: Standing): Member[] => {
  const beat = (members.find(({ holder }) => holder === me)?.beat ?? 0) + 1;
  const others = members.filter(({ holder }) => holder !== me && !gone.has(holder));
  return [...others, { holder: me, beat, isLeaving }];
};

/** How many shares a member is due: as many as any other, or one more where they do not divide: for who has most now. */
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
