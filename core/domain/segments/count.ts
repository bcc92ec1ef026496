import { conditionsOf, type FilterTree } from "../filters/tree.ts";
import { unseenTags } from "../filters/warnings.ts";
import { type Judged, judge } from "./judge.ts";
import type { SegmentMembers } from "./members.ts";

/** Whom a filter means, of those who were looked at. */
export type Counts = {
  users: number;
  /** Subscribed subscriptions that pass. */
  byChannel: Record<string, number>;
  /** How many people pass each of its conditions, in the order in which they are written. */
  passed: number[];
  /** Tags that it asks about and nobody has. */
  unknownTags: ReadonlySet<string>;
  /** The first of those who pass. */
  sample: { user_id: string; external_id: string | null }[];
};

const mostSampled = 10;

/** Counts people one by one: those who pass a filter, and those who pass each of its conditions. */
export const counter = ({ ofFilter }: SegmentMembers, tree: FilterTree) => {
  const whole = ofFilter(tree);
  const conditions = conditionsOf(tree).map(ofFilter);
  const { left: unknownTags, see } = unseenTags(tree);
  const counts: Counts = { users: 0, byChannel: {}, passed: conditions.map(() => 0), unknownTags, sample: [] };
  return {
    counts,
    add: (one: Judged): void => {
      see(one.person);
      for (const [i, condition] of conditions.entries())
        if (judge(condition, one).isMember) counts.passed[i] = (counts.passed[i] ?? 0) + 1;
      const { isMember, passing } = judge(whole, one);
      if (!isMember) return;
      counts.users++;
      for (const { channel, status } of passing)
        if (status === "subscribed") counts.byChannel[channel] = (counts.byChannel[channel] ?? 0) + 1;
      const { _id: user_id, external_id } = one.person;
      if (counts.sample.length < mostSampled) counts.sample.push({ user_id, external_id });
    },
  };
};
