import type { Collection } from "mongodb";
import type { Query } from "../../domain/filters/pre-filter.ts";
import type { Selection } from "../../domain/segments/members.ts";
import type { OfApp } from "../mongo/collection.ts";
import { type AppStretch, stretchFilter } from "../people/subscription-counts.ts";
import type { SubscriptionRow } from "../people/subscription-row.ts";
import { type FewSubscription, type fewPeople, pageSize } from "./few.ts";
import { projected, type ReadSubscription, readOfSubscriptions } from "./people.ts";

/** A stretch of an app, and who of it is meant. */
export type Place = AppStretch & OfApp & { selection: Selection };
/** `mostRows`: so many are looked at, unless those who can pass are known to be few; everything where it is left out. */
export type Span = { after: string; limit: number; mostRows?: number };
export type Page = { rows: ReadSubscription[]; isWhole: boolean; looked: number };
/** Subscriptions behind `after`, up to `until`. */
export type Range = { after: string; until: string };

/** What sending and counting need of a subscription, whatever is asked about it. */
const alwaysRead = ["user_id", "external_id", "channel", "token", "status", "test_device"] as const;

export type ScanDeps = {
  subscriptions: Collection<SubscriptionRow>;
  few: ReturnType<typeof fewPeople>;
  /** Those of some subscriptions that are meant. */
  passing: (of: OfApp, rows: readonly ReadSubscription[], selection: Selection) => Promise<ReadSubscription[]>;
};

const batchSize = pageSize + 1; // what a page finds comes in one reply

/**
 * Reads a page of a stretch: whom the store finds, as far as the selection means them. The next rows come while people are read.
 * Who is asked for until `isOver` says so does not wait until few are sought.
 */
export const scanner =
  (deps: ScanDeps) =>
  async (place: Place, { after, limit, mostRows = Infinity }: Span, isOver?: () => boolean): Promise<Page> => {
    const { few, passing } = deps;
    const { selection } = place;
    const known = few.known(selection);
    if (known !== null) return pageOfFew(deps, place, known, { after, limit });
    const found: ReadSubscription[] = [];
    let behind: string | undefined = after;
    const isEnded = isOver ?? (() => false);
    let next: Promise<ReadSubscription[]> | null = null;
    let looked = 0;
    while (behind !== undefined && found.length < limit && looked < mostRows && !isEnded()) {
      const rows: ReadSubscription[] = await (next ?? pageBehind(deps, place, behind));
      behind = rows.length < pageSize ? undefined : rows.at(-1)?._id;
      const expected = looked === 0 ? rows.length : (found.length / looked) * rows.length;
      const isNeeded = found.length + expected < limit && looked + rows.length < mostRows;
      next = isNeeded && behind !== undefined ? pageBehind(deps, place, behind) : null;
      next?.catch(() => undefined); // whoever goes on hears of it; meanwhile people are read
      const meant = await passing(place, rows, selection);
      found.push(...meant);
      looked += rows.length;
      const sought =
        isOver !== undefined ? null : await few.sought(place.appId, selection, { of: rows.length, are: meant.length });
      if (sought === null || behind === undefined || found.length >= limit) continue;
      const rest = await pageOfFew(deps, place, sought, { after: behind, limit: limit - found.length });
      return { rows: [...found, ...rest.rows], isWhole: rest.isWhole, looked };
    }
    return { rows: found.slice(0, limit), isWhole: behind === undefined && found.length <= limit, looked };
  };

/** Everybody of a range of a stretch who is meant, page by page. The next page comes while people are read. */
export const rangeScanner = (deps: Omit<ScanDeps, "few">) =>
  async function* (place: Place, { after, until }: Range): AsyncGenerator<ReadSubscription[]> {
    let next: Promise<ReadSubscription[]> | null = pageBehind(deps, place, after, until);
    while (next !== null) {
      const rows: ReadSubscription[] = await next;
      const last = rows.length < pageSize ? undefined : rows.at(-1);
      next = last === undefined ? null : pageBehind(deps, place, last._id, until);
      next?.catch(() => undefined); // whoever goes on hears of it; meanwhile people are read
      yield await deps.passing(place, rows, place.selection);
    }
  };

const pageBehind = (
  { subscriptions }: Pick<ScanDeps, "subscriptions">,
  { selection, ...of }: Place,
  behind: string,
  until?: string,
): Promise<ReadSubscription[]> =>
  subscriptions
    .find<ReadSubscription>(
      { ...stretchFilter(of, behind, until), ...narrowed(selection.query("subscriptions")) },
      { projection: projected([...alwaysRead, ...selection.reads.subscriptions]), batchSize },
    )
    .sort({ _id: 1 })
    .limit(pageSize)
    .toArray();

/** The next of those who can pass, where they are few and known. */
const pageOfFew = async (
  { subscriptions, passing }: ScanDeps,
  place: Place,
  known: readonly FewSubscription[],
  { after, limit }: Span,
): Promise<Page> => {
  const { selection, channel, status, testOnly, appId } = place;
  const isNext = (one: FewSubscription): boolean =>
    one._id > after && one.channel === channel && one.status === status && (!testOnly || one.test_device);
  const ids = known.filter(isNext).map(({ _id }) => _id);
  const found: ReadSubscription[] = [];
  let looked = 0;
  for (; looked < ids.length && found.length < limit; looked += pageSize) {
    const page = ids.slice(looked, looked + pageSize);
    const rows = await subscriptions
      .find<ReadSubscription>({ _id: { $in: page }, app_id: appId }, { projection: readOfSubscriptions, batchSize })
      .sort({ _id: 1 })
      .toArray();
    found.push(...(await passing(place, rows, selection)));
  }
  return { rows: found.slice(0, limit), isWhole: looked >= ids.length && found.length <= limit, looked };
};

/** Beside other members of a query, which it may name, too. */
export const narrowed = (query: Query): Query => (Object.keys(query).length === 0 ? {} : { $and: [query] });
