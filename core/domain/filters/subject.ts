import type { Person } from "../people/person.ts";
import type { Place } from "./place.ts";

/** What filters read of a person. */
export type FilteredPerson = Person & {
  first_seen_at: Date;
  last_active_at: Date;
  created_at: Date;
  session_count?: number;
  session_time?: number | null;
  amount_spent?: number | null;
  location?: Place | null;
  /** Ids of the segments of kind `list` that they were put on; absent until they were. */
  lists?: string[];
};

/** What filters read of a subscription. */
export type FilteredSubscription = {
  /** For targets that name it; filters do not read it. */
  _id?: string;
  channel: string;
  token: string;
  status: string;
  test_device: boolean;
  device: Record<string, string>;
  created_at: Date;
};

/** What is stored of people beside themselves, as it was read for those who are asked about. */
export type Facts = {
  /** How often they did what is asked, by the key of the question. */
  countOf: (key: string, userId: string) => number;
  /** Whether the suppression list holds messages to a subscription back. */
  isSuppressed: (subscription: FilteredSubscription) => boolean;
};

/**
 * Who a filter is asked about: a person, with the subscription in hand. Null: the person alone. `facts` are needed by filters
 * that ask for some.
 */
export type Subject = { person: FilteredPerson; subscription: FilteredSubscription | null; facts?: Facts };

/** @throws RangeError when nobody has read the facts: nothing is guessed */
export const factsOf = ({ facts }: Subject): Facts => {
  if (facts === undefined) throw new RangeError("the facts that a filter asks for were not read");
  return facts;
};
