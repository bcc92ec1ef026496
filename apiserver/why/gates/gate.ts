import type { Facts } from "#core/domain/filters/subject.ts";
import type { Chosen, MessageAim } from "#core/domain/segments/aim.ts";
import type { WhyGateName, WhyVerdict } from "#core/schema/why/why.ts";
import type { CapTake } from "#core/storage/messages/cap-takes.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { SaidEntry } from "#core/storage/suppressions/suppressions.ts";

/** What is known of one notification and one recipient. */
export type Seen = {
  message: MessageRow;
  aim: MessageAim | null;
  /** Those whom the target names by ids, as far as they are this person. */
  chosen: Chosen;
  /** What its segments and filters ask about this person; absent when they ask for nothing. */
  facts?: Facts;
  person: UserRow | null;
  /** Null for a person who has none. */
  subscription: SubscriptionRow | null;
  delivery: DeliveryRow | null;
  /** Entries of the suppression list about them. */
  entries: readonly SaidEntry[];
  /** What frequency caps counted for them, where one held it back. */
  counted: readonly CapTake[];
  /** The channels that the app has an account for. */
  configured: ReadonlySet<string>;
  now: Date;
};

/** What a gate finds; `says` is the end of the sentence "It did not arrive: …" where it stops or waits. */
export type Found = { verdict: WhyVerdict; at?: Date | null; facts?: Record<string, unknown>; says?: string };

/**
 * One thing that decides whether somebody gets a notification. `reasons`: the `suppression_reason`s of the deliveries that it
 * stopped, and what each says. `judge` asks it anew, by the function that decides; null where it has nothing to say. A gate
 * without `judge` is only known by the delivery that it left.
 */
export type Gate = {
  gate: WhyGateName;
  reasons?: Readonly<Record<string, string>>;
  /** Which of several gates with one reason it was; left out where only one has it. */
  isOne?: (seen: Seen) => boolean;
  judge?: (seen: Seen) => Found | null;
};
