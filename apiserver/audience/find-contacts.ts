import { contactsOf } from "#core/channels/contacts.ts";
import type { Clock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import { type MessageAim, nobodyChosen, openAim } from "#core/domain/segments/aim.ts";
import type { Target } from "#core/schema/messages/notification.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import { type Contacts, type NewContact, newContacts } from "#core/storage/people/contacts.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { AimedSubscriptions } from "#core/storage/segments/aimed.ts";
import type { Aimed } from "./count-aimed.ts";

export type FindContactsDeps = {
  contacts: Pick<Contacts, "known">;
  aimed: Pick<AimedSubscriptions, "passing" | "factsOf">;
  clock: Clock;
};

/** What an app has of the addresses that a target names, and what it would be given. */
export type FoundContacts = { known: SubscriptionRow[]; made: NewContact[] };

/** Source: docs/reference/messages.md#contacts. */
export const findContacts = async (
  { contacts, clock }: FindContactsDeps,
  of: OfApp,
  target: Target,
): Promise<FoundContacts> => {
  const wanted = contactsOf(target);
  if (wanted.length === 0) return { known: [], made: [] };
  const known = await contacts.known(of, wanted);
  const now = clock.now();
  return { known, made: newContacts(of, { wanted, known }, (kind) => newId(kind, now), now) };
};

/** Subscriptions of new contacts that segments and filters leave, as if they had been made. */
export const leftOf = async (
  { aimed }: FindContactsDeps,
  of: OfApp,
  made: readonly NewContact[],
  asked: Aimed | null,
): Promise<SubscriptionRow[]> => {
  if (asked === null) return made.flatMap(({ subscriptions }) => subscriptions);
  const selection = openAim(chosenByIds(asked.aim), asked.at, nobodyChosen);
  const subjects = made.flatMap(({ user: person, subscriptions }) =>
    person === null ? [] : subscriptions.map((subscription) => ({ person, subscription })),
  );
  const facts = selection.asks && (await aimed.factsOf(of, selection.asks, aboutOf(subjects)));
  const anonymous = subjects.filter((subject) => selection.passes({ ...subject, ...(facts && { facts }) }));
  const owned = made.flatMap(({ user, subscriptions }) => (user === null ? subscriptions : []));
  return [...anonymous.map(({ subscription }) => subscription), ...(await aimed.passing(of, owned, selection))];
};

const aboutOf = (subjects: readonly { person: { _id: string }; subscription: SubscriptionRow }[]) => ({
  userIds: subjects.map(({ person }) => person._id),
  subscriptions: subjects.map(({ subscription }) => subscription),
});

/** They are chosen, whatever else the target chooses. */
const chosenByIds = (aim: MessageAim): MessageAim => ({ ...aim, isEveryone: true });
