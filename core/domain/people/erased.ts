import type { BatchEnvelope, EventEnvelope } from "../../schema/events/envelope.ts";
import { peopleOf, personKey } from "./keys.ts";

/** Who is forgotten: the keys of `peopleOf`, and when he was deleted. */
export type Forgotten = { keys: ReadonlySet<string>; at: Date };

/** The body of a webhook, and whom it is about; a text that was cut may not name them all. */
export type Body = { text: string; people: readonly string[] };

/**
 * A body without what it tells of a person: each event about him keeps its kind and time, and says that it is erased; a
 * batch keeps its other events. Null when nothing of it is about him. What is erased already stays the same.
 */
export const erasedBody = ({ text, people }: Body, who: Forgotten): Body | null => {
  const envelope = JSON.parse(text) as EventEnvelope | BatchEnvelope; // sound: we wrote it
  if (!("events" in envelope)) {
    return isAbout(envelope, people, who) ? { text: JSON.stringify(erased(envelope, who)), people: [] } : null;
  }
  const events = envelope.events.map((event) => (isAbout(event, peopleOf(event), who) ? erased(event, who) : event));
  const isSame = events.every((event, i) => event === envelope.events[i]);
  if (isSame && !people.some((key) => isOurs(key) && who.keys.has(key))) return null;
  return { text: JSON.stringify({ ...envelope, events }), people: [...new Set(events.flatMap(peopleOf))] };
};

/** An id that the app gave the person is no subject any more; ours tells nobody who he was. */
export const erasedSubject = (subject: string | null, { keys }: Forgotten): string | null =>
  subject !== null && keys.has(personKey("external_id", subject)) ? null : subject;

const erased = (event: EventEnvelope, who: Forgotten): EventEnvelope & { erased: true } => ({
  ...event,
  subject_id: erasedSubject(event.subject_id, who),
  data: {},
  erased: true,
});

/** Ids that the app gave may be another's after the deletion; ours never are. */
const isAbout = ({ timestamp }: EventEnvelope, people: readonly string[], { keys, at }: Forgotten): boolean => {
  const named = people.filter((key) => keys.has(key));
  return named.some((key) => isOurs(key)) || (named.length > 0 && Date.parse(timestamp) <= at.getTime());
};

const isOurs = (key: string): boolean => key.startsWith("usr_") || key.startsWith("sub_");
