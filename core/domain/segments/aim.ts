import { parseFilter } from "../filters/parse.ts";
import { joined } from "../filters/pre-filter.ts";
import type { Subject } from "../filters/subject.ts";
import {
  type Asks,
  joinedAsks,
  joinedReads,
  type SegmentDefinition,
  type Selection,
  segmentMembers,
  UnusableSegment,
} from "./members.ts";

/**
 * Whom a target means by segments and a filter, with the definitions of all segments that these name: what is changed later
 * changes nothing of it. Source: docs/reference/messages.md#segments-and-filters.
 */
export type MessageAim = {
  /** Nobody is chosen by ids or segments: it is for everyone who passes. */
  isEveryone: boolean;
  included: string[];
  excluded: string[];
  filter: object | null;
  segments: SegmentDefinition[];
};

/** Those whom the target names by ids. */
export type Chosen = { subscriptionIds: ReadonlySet<string>; userIds: ReadonlySet<string> };

export const nobodyChosen: Chosen = { subscriptionIds: new Set(), userIds: new Set() };

/** Whether nobody but those whom the target names by ids can be meant. */
export const isOfIdsAlone = ({ isEveryone, included }: MessageAim): boolean => !isEveryone && included.length === 0;

/**
 * Opens an aim: who is chosen or in an included segment, passes the filter, and is in no excluded segment. Times are
 * judged at `now`. @throws SegmentGone, SegmentCircle
 */
export const openAim = (aim: MessageAim, now: Date, chosen: Chosen): Selection => {
  const parts = aimParts(aim, now, chosen);
  const { included, excluded, filters } = parts;
  const hasChosen = chosen.subscriptionIds.size + chosen.userIds.size > 0;
  return {
    passes: (subject) => parts.isIn(subject) && parts.isFit(subject) && !parts.isExcluded(subject),
    query: (of) => {
      const queries = included.map(({ query }) => query(of));
      const inAny = hasChosen ? {} : joined("any", queries); // who is chosen need not be in a segment
      return joined("all", [inAny, ...filters.map(({ query }) => query(of))]);
    },
    reads: joinedReads([...included, ...excluded, ...filters].map(({ reads }) => reads)),
    asks: joinedAsks([...included, ...excluded, ...filters].map(({ asks }) => asks)),
    mayPass: (subject) => parts.mayBeIn(subject) && filters.every(({ mayPass }) => mayPass(subject)),
    isOfPeople: [...included, ...excluded, ...filters].every(({ isOfPeople }) => isOfPeople),
  };
};

/** What an aim asks about people; null when it is nothing, or nobody can say, because of a segment that it names. */
export const asksOf = (aim: MessageAim, now: Date): Asks | null => {
  try {
    return openAim(aim, now, nobodyChosen).asks;
  } catch (error) {
    if (error instanceof UnusableSegment) return null;
    throw error;
  }
};

/** What an aim decides by, one after the other: each answer is a part of the aim's, and explains it (`apiserver/why`). */
export const aimParts = (aim: MessageAim, now: Date, chosen: Chosen) => {
  const members = segmentMembers(new Map(aim.segments.map((one) => [one._id, one])), now);
  const included = aim.isEveryone ? [] : aim.included.map(members.ofSegment);
  const excluded = aim.excluded.map(members.ofSegment);
  const filters = aim.filter === null ? [] : [members.ofFilter(parseFilter(aim.filter))];
  const isNamed = (subject: Subject): boolean =>
    aim.isEveryone || isChosen(chosen, subject.person._id, subject.subscription?._id);
  return {
    members,
    included,
    excluded,
    filters,
    isIn: (subject: Subject): boolean => isNamed(subject) || included.some(({ passes }) => passes(subject)),
    mayBeIn: (subject: Subject): boolean => isNamed(subject) || included.some(({ mayPass }) => mayPass(subject)),
    isFit: (subject: Subject): boolean => filters.every(({ passes }) => passes(subject)),
    isExcluded: (subject: Subject): boolean => excluded.some(({ passes }) => passes(subject)),
  };
};

/** Whether ids name somebody, or the subscription in hand. */
export const isChosen = (
  { subscriptionIds, userIds }: Chosen,
  userId: string,
  subscriptionId: string | undefined,
): boolean => userIds.has(userId) || (subscriptionId !== undefined && subscriptionIds.has(subscriptionId));
