import { LRUCache } from "lru-cache";
import { isDoubted, mostVerdicts, type Verdict } from "#core/domain/suppressions/verdicts.ts";
import { type Reached, type VerdictsRow, verdictsIdOf } from "#core/storage/suppressions/verdicts.ts";

export type DoubtDeps = {
  verdicts: {
    find: (ids: readonly string[]) => Promise<VerdictsRow[]>;
    add: (all: readonly { of: Reached; fresh: readonly Verdict[] }[], now: Date) => Promise<void>;
  };
};

/** What a receipt says of an address; `of.group` is that of the address. */
export type Judged = Verdict & { of: Reached };

/** Whether what calls an address gone is doubted, by its group. */
export type Doubts = (of: Reached) => boolean;

type Unsaved = { of: Reached; fresh: Verdict[]; savedAtMs: number };

const mostGroups = 10_000; // one that is forgotten loses what came through within savedEveryMs
const savedEveryMs = 10_000; // of what came through; what says gone is saved at once, with what came through before it

/**
 * Remembers verdicts on addresses, shared with the other processes, and says which of those that call an address gone are
 * doubted: most of the last 20 of its country or domain say so. Mail is doubted only where its provider tells what came
 * through. Source: docs/reference/suppressions.md#doubt.
 */
export const doubt = ({ verdicts }: DoubtDeps) => {
  const groups = new LRUCache<string, Unsaved>({ max: mostGroups });
  const observe = ({ of, deliveryId, isGone }: Judged): string => {
    const id = verdictsIdOf(of);
    const kept = groups.get(id) ?? { of, fresh: [], savedAtMs: 0 };
    kept.fresh.push({ deliveryId, isGone });
    if (kept.fresh.length > mostVerdicts) kept.fresh.shift();
    groups.set(id, kept);
    return id;
  };
  return async (judged: readonly Judged[], now: Date): Promise<Doubts> => {
    if (judged.length === 0) return () => false;
    const ids = new Set([...judged, ...judged.flatMap(ofAccount)].map(observe));
    const asked = new Set(
      judged.filter(({ isGone }) => isGone).flatMap(({ of }) => [verdictsIdOf(of), verdictsIdOf(accountOf(of))]),
    );
    const stored = new Map((await verdicts.find([...asked])).map((row) => [row._id, row]));
    const due = [...ids].flatMap((id) => {
      const one = groups.get(id);
      const isDue = one !== undefined && (asked.has(id) || now.getTime() - one.savedAtMs >= savedEveryMs);
      return isDue ? [{ id, one, fresh: unknownTo(stored.get(id), one.fresh) }] : [];
    });
    const last = new Map(due.map(({ id, fresh }) => [id, [...(stored.get(id)?.last ?? []), ...fresh]]));
    await verdicts.add(
      due.filter(({ fresh }) => fresh.length > 0).map(({ one: { of }, fresh }) => ({ of, fresh })),
      now,
    );
    for (const { id, one } of due) groups.set(id, { ...one, fresh: [], savedAtMs: now.getTime() });
    const isTold = (of: Reached): boolean => {
      const id = verdictsIdOf(accountOf(of));
      return of.channel !== "email" || (stored.get(id)?.through_at ?? null) !== null || (last.get(id) ?? []).length > 0;
    };
    return (of) => isDoubted(last.get(verdictsIdOf(of)) ?? []) && isTold(of);
  };
};

const accountOf = (of: Reached): Reached => ({ ...of, group: null });

/** What came through by mail counts for the whole account, too: that its provider tells of it. */
const ofAccount = (one: Judged): Judged[] =>
  one.isGone || one.of.channel !== "email" ? [] : [{ ...one, of: accountOf(one.of) }];

/** A receipt may come again. */
const unknownTo = (row: VerdictsRow | undefined, fresh: readonly Verdict[]): Verdict[] => {
  const known = new Set(row?.last.map(({ deliveryId }) => deliveryId));
  return fresh.filter(({ deliveryId }) => !known.has(deliveryId));
};
