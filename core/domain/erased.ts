import type { BatchEnvelope, EventEnvelope } from "../schema/event.ts";
import { peopleOf, personKey } from "./people.ts";

/** Who is forgotten: the keys of `peopleOf`, and when he was deleted. */
export type Forgotten = { keys: ReadonlySet<string>; at: Date };

/**
 * The body of a webhook without what it tells of a person: each event about him keeps its kind and time, and says that
 * it is erased. A batch keeps its other events. `people` are those of the whole, which a text that was cut may not name.
 */
export const erasedText = (text: string, people: readonly string[], who: Forgotten): string => {
  const envelope = JSON.parse(text) as EventEnvelope | BatchEnvelope; // sound: we wrote it
  return JSON.stringify(
    "events" in envelope
      ? { ...envelope, events: envelope.events.map((event) => erasedEvent(event, peopleOf(event), who)) }
      : erasedEvent(envelope, people, who),
  );
};

/** An event that is about the person without what it tells of him; any other as it is. */
export const erasedEvent = (event: EventEnvelope, people: readonly string[], who: Forgotten): EventEnvelope => {
  if (!isAbout(event, people, who)) return event;
  const erased = { ...event, subject_id: erasedSubject(event.subject_id, who), data: {}, erased: true };
  return erased;
};

/** An id that the app gave the person is no subject any more; ours tells nobody who he was. */
export const erasedSubject = (subject: string | null, { keys }: Forgotten): string | null =>
  subject !== null && keys.has(personKey("external_id", subject)) ? null : subject;

/** Ids that the app gave may be another's after the deletion; ours never are. */
const isAbout = ({ timestamp }: EventEnvelope, people: readonly string[], { keys, at }: Forgotten): boolean => {
  const named = people.filter((key) => keys.has(key));
  return named.some((key) => isOurs(key)) || (named.length > 0 && Date.parse(timestamp) <= at.getTime());
};

const isOurs = (key: string): boolean => key.startsWith("usr_") || key.startsWith("sub_");
