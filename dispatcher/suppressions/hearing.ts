import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import { mostVerdicts, type Verdict } from "#core/domain/suppressions/verdicts.ts";
import { type Group, groupIdOf, type Heard, type VerdictsRow } from "#core/storage/suppressions/verdicts.ts";

export type HearingDeps = {
  verdicts: {
    find: (ids: readonly string[]) => Promise<VerdictsRow[]>;
    add: (all: readonly Heard[], now: Date) => Promise<void>;
  };
};

/** What is known of a group: the verdicts to judge by, and whether receipts have told of something that came through. */
export type Known = { verdicts: readonly Verdict[]; isTold: boolean };

/** `asked`: groups to read. `everyMs`: how often what was heard of a group that is not asked for is stored. */
export type Hearing = { heard: readonly Heard[]; asked: readonly Group[]; everyMs: number };

type GroupState = { of: Group; fresh: Verdict[]; isThrough: boolean; savedAtMs: number };

const mostGroups = 10_000; // one that is forgotten loses what was not stored yet

/**
 * Remembers verdicts by group, shared with the other processes. A group that is asked for is read, and stored at once with
 * what was heard before; others cost one write in `everyMs`. A batch with enough verdicts on a group is judged by its own,
 * a smaller one by the last of the group.
 */
export const hearing = ({ verdicts }: HearingDeps) => {
  const groups = new LRUCache<string, GroupState>(atMostEntries(mostGroups));
  const put = (id: string, { savedAtMs }: Pick<GroupState, "savedAtMs">, ...all: [Heard, ...Heard[]]): void => {
    const { of, fresh, isThrough } = joined(all);
    groups.set(id, { of, fresh: fresh.slice(-mostVerdicts), isThrough, savedAtMs });
  };
  const remember = (id: string, one: Heard): void => {
    const kept = groups.get(id);
    if (kept === undefined) put(id, { savedAtMs: 0 }, one);
    else put(id, kept, kept, one);
  };
  /** Keeps what could not be stored before what was heard since. */
  const putBack = (taken: ReadonlyMap<string, GroupState>): void => {
    for (const [id, one] of taken) put(id, one, one, groups.get(id) ?? one);
  };
  /** Takes what is to be stored now: what is heard meanwhile is kept for the next time. */
  const take = (
    ids: Iterable<string>,
    isDue: (id: string, kept: GroupState) => boolean,
    now: Date,
  ): Map<string, GroupState> => {
    const due = [...ids].flatMap((id): [string, GroupState][] => {
      const kept = groups.get(id);
      return kept !== undefined && isDue(id, kept) ? [[id, kept]] : [];
    });
    for (const [id, { of }] of due) groups.set(id, { of, fresh: [], isThrough: false, savedAtMs: now.getTime() });
    return new Map(due);
  };
  return async ({ heard, asked, everyMs }: Hearing, now: Date): Promise<(of: Group) => Known> => {
    const batch = byGroup(heard);
    for (const [id, one] of batch) remember(id, one);
    const askedIds = new Set(asked.map(groupIdOf));
    const stored = new Map((await verdicts.find([...askedIds])).map((row) => [row._id, row]));
    const isDue = (id: string, { savedAtMs }: GroupState) => askedIds.has(id) || now.getTime() - savedAtMs >= everyMs;
    const taken = take(new Set([...batch.keys(), ...askedIds]), isDue, now);
    const fresh = new Map([...taken].map(([id, one]) => [id, { ...one, fresh: unknownTo(stored.get(id), one.fresh) }]));
    const added = [...fresh.values()].filter((one) => one.fresh.length > 0 || one.isThrough);
    await verdicts.add(added, now).catch((error: unknown) => {
      putBack(taken);
      throw error;
    });
    return (of) => {
      const id = groupIdOf(of);
      const [row, ours] = [stored.get(id), batch.get(id)];
      const own = ours?.fresh ?? [];
      // another call at this moment may have taken our own
      const all = onceEach([...(fresh.get(id)?.fresh ?? []), ...unknownTo(row, own)]);
      const last = [...(row?.last ?? []), ...all].slice(-mostVerdicts);
      const isTold = (row?.through_at ?? null) !== null || [fresh.get(id), ours].some((one) => one?.isThrough);
      return { verdicts: own.length >= mostVerdicts ? own : last, isTold };
    };
  };
};

/** All that a batch says of each group. */
const byGroup = (heard: readonly Heard[]): Map<string, Heard> =>
  new Map(
    [...Map.groupBy(heard, ({ of }) => groupIdOf(of))].flatMap(([id, [first, ...rest]]) =>
      first === undefined ? [] : [[id, joined([first, ...rest])]],
    ),
  );

const joined = (all: readonly [Heard, ...Heard[]]): Heard => ({
  of: all[0].of,
  fresh: onceEach(all.flatMap(({ fresh }) => fresh)),
  isThrough: all.some(({ isThrough }) => isThrough),
});

/** A delivery counts once. */
const onceEach = (all: readonly Verdict[]): Verdict[] => [...new Map(all.map((one) => [one.deliveryId, one])).values()];

/** A receipt may come again, and a chunk be run again. */
const unknownTo = (row: VerdictsRow | undefined, fresh: readonly Verdict[]): Verdict[] => {
  const known = new Set(row?.last.map(({ deliveryId }) => deliveryId));
  return fresh.filter(({ deliveryId }) => !known.has(deliveryId));
};
