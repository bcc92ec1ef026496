import type { Facts, FilteredPerson, FilteredSubscription, Subject } from "../filters/subject.ts";
import type { Selection } from "./members.ts";

/** A person with all of their subscriptions. */
export type Judged<S extends FilteredSubscription = FilteredSubscription> = {
  person: FilteredPerson;
  subscriptions: readonly S[];
  facts?: Facts;
};

/**
 * Which subscriptions of a person pass, and whether the person is a member: when one passes, or by themselves where nothing
 * is asked about subscriptions. Source: docs/reference/segments.md#members.
 */
export const judge = <S extends FilteredSubscription>(
  { passes, isOfPeople }: Pick<Selection, "passes" | "isOfPeople">,
  { person, subscriptions, ...known }: Judged<S>,
): { isMember: boolean; passing: readonly S[] } => {
  if (isOfPeople) {
    const isMember = passes({ person, subscription: null, ...known });
    return { isMember, passing: isMember ? subscriptions : [] };
  }
  const passing = subscriptions.filter((subscription) => passes({ person, subscription, ...known }));
  return { isMember: passing.length > 0, passing };
};

/** What a condition finds of a person: one value, or one for each subscription where it asks about those. */
export const subjectsOf = ({ person, subscriptions, ...known }: Judged, isOfPeople: boolean): Subject[] =>
  isOfPeople
    ? [{ person, subscription: null, ...known }]
    : subscriptions.map((subscription): Subject => ({ person, subscription, ...known }));
