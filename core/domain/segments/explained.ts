import { readerOf } from "../filters/compile.ts";
import type { Condition } from "../filters/tree.ts";
import { type Judged, subjectsOf } from "./judge.ts";
import type { SegmentMembers } from "./members.ts";

/** What a condition found of somebody, and whether they pass it; of subscriptions a value each. */
export type ExplainedCondition = { path: string; value: unknown; passed: boolean };

/** Asks one condition about somebody, by the functions that decide who is in a segment. */
export const explainCondition = (
  members: SegmentMembers,
  condition: Condition,
  somebody: Judged,
): ExplainedCondition => {
  const { path, name, value } = condition;
  const read = readerOf(condition);
  const { passes, isOfPeople } = members.ofFilter(condition);
  const subjects = subjectsOf(somebody, isOfPeople);
  const found = subjects.map((subject): unknown =>
    name === "segment" ? members.ofSegment(String(value)).passes(subject) : (read(subject) ?? null),
  );
  return { path, value: isOfPeople ? found[0] : found, passed: subjects.some((subject) => passes(subject)) };
};
