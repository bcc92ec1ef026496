import { contactKey } from "../../channels/addresses.ts";
import type { Clock } from "../../domain/clock.ts";
import { personKey } from "../../domain/people/keys.ts";
import { type Entry, isMet, type MessageTraits } from "../../domain/suppressions/effects.ts";
import { type SuppressionReason, suppressionReasons } from "../../schema/suppressions/suppression.ts";
import { type Channel, isContact } from "../../schema/vocabulary/channels.ts";
import type { OfApp } from "../mongo/collection.ts";
import type { SubscriptionRow } from "../people/subscription-row.ts";
import type { SubjectOf } from "./keys.ts";
import type { Met } from "./suppressions.ts";

export type FindSuppressedDeps = {
  suppressions: {
    isAny: (appId: string, channel: Channel) => Promise<boolean>;
    about: (of: OfApp, channel: Channel, subjects: readonly string[], now: Date) => Promise<Met[]>;
  };
  subjectsOf: (app: OfApp) => Promise<SubjectOf>;
  clock: Clock;
};

/** What of a subscription decides whether entries hold back messages to it. */
export type Addressed = Pick<SubscriptionRow, "_id" | "channel" | "token" | "external_id" | "user_id">;

export type FindSuppressed = ReturnType<typeof findSuppressed>;

/**
 * Which of these subscriptions of one channel the suppression list holds a message back from, by id, with the strongest
 * reason. One query where nothing is suppressed, else one more for each 500 subjects.
 */
export const findSuppressed =
  ({ suppressions, subjectsOf, clock }: FindSuppressedDeps) =>
  async (of: OfApp, said: MessageTraits, recipients: readonly Addressed[]): Promise<Map<string, SuppressionReason>> => {
    const [channel] = recipients.map((one) => one.channel);
    if (channel === undefined || !(await suppressions.isAny(of.appId, channel))) return new Map();
    const subjectOf = await subjectsOf(of);
    const subjects = new Map(recipients.map((one) => [one._id, keysOf(one).map(subjectOf)]));
    const all = [...new Set([...subjects.values()].flat())];
    const entries = await suppressions.about(of, channel, all, clock.now());
    const met = Map.groupBy(entries, ({ subject }) => subject);
    return new Map(
      [...subjects].flatMap(([id, own]) => {
        const found = holding(
          own.flatMap((subject) => met.get(subject) ?? []),
          said,
        );
        return found === undefined ? [] : [[id, found.reason] as const];
      }),
    );
  };

/** What entries may be about that hold back a message to this subscription. */
export const keysOf = ({ channel, token, external_id: externalId, user_id: userId }: Addressed): string[] => [
  ...(isContact(channel) ? [contactKey(channel, token)] : []), // devices are not suppressed by their token
  ...(externalId === null ? [] : [personKey("external_id", externalId)]),
  personKey("user_id", userId), // what they said on a device of theirs, who may be anonymous
];

/** Of the entries about somebody the one that holds a message back: that with the strongest reason. */
export const holding = <E extends Entry>(entries: readonly E[], said: MessageTraits): E | undefined => {
  const met = entries.filter((entry) => isMet(entry, said));
  return suppressionReasons.flatMap((one) => met.find(({ reason }) => reason === one) ?? [])[0];
};
