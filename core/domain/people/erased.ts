import type { BatchEnvelope, EventEnvelope } from "../../schema/events/envelope.ts";
import { peopleOf, personKey } from "./keys.ts";

/** A person who was deleted: their keys, as `peopleOf` makes them, and the instant of the deletion. */
export type DeletedPerson = { keys: ReadonlySet<string>; at: Date };

/** The body of a webhook, and the keys of the people it is about; a text that was cut may not name them all. */
export type Body = { text: string; people: readonly string[] };

/**
 * A body without what it says about a deleted person: each event about them keeps its kind and time, and says that it is
 * erased; a batch keeps its other events. Null when nothing in it is about them. An erased event stays as it is.
 */
export const erasedBody = ({ text, people }: Body, who: DeletedPerson): Body | null => {
  const envelope = JSON.parse(text) as EventEnvelope | BatchEnvelope; // sound: we wrote it
  if (!("events" in envelope)) {
    return isAbout(envelope, people, who) ? { text: JSON.stringify(erased(envelope, who)), people: [] } : null;
  }
  const events = envelope.events.map((event) => (isAbout(event, peopleOf(event), who) ? erased(event, who) : event));
  const isSame = events.every((event, i) => event === envelope.events[i]);
  if (isSame && !people.some((key) => isOurs(key) && who.keys.has(key))) return null;
  return { text: JSON.stringify({ ...envelope, events }), people: [...new Set(events.flatMap(peopleOf))] };
};

/** A subject that is an id which the app gave the person is removed; an id of ours names nobody outside and stays. */
export const erasedSubject = (subject: string | null, { keys }: DeletedPerson): string | null =>
  subject !== null && keys.has(personKey("external_id", subject)) ? null : subject;

const erased = (event: EventEnvelope, who: DeletedPerson): EventEnvelope & { erased: true } => ({
  ...event,
  subject_id: erasedSubject(event.subject_id, who),
  data: {},
  erased: true,
});

/** After the deletion an id that the app gave may be another person's; an id of ours never is. */
const isAbout = ({ timestamp }: EventEnvelope, people: readonly string[], { keys, at }: DeletedPerson): boolean => {
  const named = people.filter((key) => keys.has(key));
  return named.some((key) => isOurs(key)) || (named.length > 0 && Date.parse(timestamp) <= at.getTime());
};

const isOurs = (key: string): boolean => key.startsWith("usr_") || key.startsWith("sub_");
