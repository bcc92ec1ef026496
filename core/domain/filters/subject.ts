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

/** Who a filter is asked about: a person, with the subscription in hand. Null: the person alone. */
export type Subject = { person: FilteredPerson; subscription: FilteredSubscription | null };
