import { parseFilter } from "#core/domain/filters/parse.ts";
import type { Subject } from "#core/domain/filters/subject.ts";
import { conditionsOf } from "#core/domain/filters/tree.ts";
import { aimParts, isChosen } from "#core/domain/segments/aim.ts";
import { explainCondition } from "#core/domain/segments/explained.ts";
import { UnusableSegment } from "#core/domain/segments/members.ts";
import type { Found, Gate, Seen } from "./gate.ts";

/** The instant at which the segments and filters of a notification are judged. */
export const judgedAt = ({ scheduled_for: scheduledFor, created_at: createdAt }: Seen["message"]): Date =>
  scheduledFor ?? createdAt;

const pass = (facts: Record<string, unknown> = {}): Found => ({ verdict: "pass", facts });
const stop = (says: string, facts: Record<string, unknown> = {}): Found => ({ verdict: "stop", says, facts });

/** By which selector of the target they are meant: everybody, their ids, or a segment. */
const targeted = (seen: Seen): Found => {
  const { message, person, subscription } = seen;
  if (message.live_activity !== undefined)
    return {
      verdict: "unknown",
      says: "its recipients are the devices of a live activity",
      facts: { by: ["activity"] },
    };
  if (person === null) return stop("the app does not know them", { is_known: false });
  const began = message.started_at ?? judgedAt(message);
  const madeAt = subscription?.created_at ?? person.created_at;
  if (message.planned && madeAt > began)
    return stop("they were not there yet when its audience was read", { created_at: madeAt, audience_read_at: began });
  const by = selectorsOf(seen, subjectOf(seen));
  return by.length > 0 ? pass({ by }) : stop("its target does not mean them", { by });
};

const selectorsOf = ({ message, aim, chosen }: Seen, subject: Subject | null): string[] => {
  const isForAll = aim === null ? message.target.all === true : aim.isEveryone;
  return [
    ...(isForAll ? ["all"] : []),
    ...(subject !== null && isNamed(chosen, subject) ? ["ids"] : []),
    ...(aim !== null && !aim.isEveryone && aim.included.length > 0 ? ["segments"] : []),
  ];
};

const subjectOf = ({ person, subscription, facts }: Seen): Subject | null =>
  person === null ? null : { person, subscription, ...(facts && { facts }) };

const isNamed = (chosen: Seen["chosen"], { person, subscription }: Subject): boolean =>
  isChosen(chosen, person._id, subscription?._id);

type Parts = ReturnType<typeof aimParts>;

/** Asks an aim; one whose segments cannot be opened any more is not known. */
const byAim =
  (judge: (seen: Seen, aim: NonNullable<Seen["aim"]>, parts: Parts, subject: Subject) => Found | null) =>
  (seen: Seen): Found | null => {
    const [aim, subject] = [seen.aim, subjectOf(seen)];
    if (aim === null || subject === null) return null;
    try {
      return judge(seen, aim, aimParts(aim, judgedAt(seen.message), seen.chosen), subject);
    } catch (error) {
      if (error instanceof UnusableSegment) return { verdict: "unknown", says: error.message };
      throw error;
    }
  };

/** Each condition of a filter with what it found. */
const conditionsIn = (filter: unknown, { members }: Parts, { person, subscription, ...known }: Subject): object[] =>
  conditionsOf(parseFilter(filter)).map((condition) =>
    explainCondition(members, condition, {
      person,
      subscriptions: subscription === null ? [] : [subscription],
      ...known,
    }),
  );

const segmentFacts = (ids: readonly string[], aim: NonNullable<Seen["aim"]>, parts: Parts, subject: Subject) =>
  ids.map((id) => {
    const { kind, filter } = aim.segments.find(({ _id }) => _id === id) ?? { kind: "list", filter: null };
    return {
      segment_id: id,
      member: parts.members.ofSegment(id).passes(subject),
      conditions: kind === "list" ? [] : conditionsIn(filter, parts, subject),
    };
  });

const segment = byAim(({ chosen }, aim, parts, subject) => {
  if (aim.isEveryone || aim.included.length === 0 || isNamed(chosen, subject)) return null;
  const facts = { segments: segmentFacts(aim.included, aim, parts, subject) };
  return parts.isIn(subject) ? pass(facts) : stop("they are in none of its segments", facts);
});

const filter = byAim((_, aim, parts, subject) => {
  if (aim.filter === null) return null;
  const facts = { conditions: conditionsIn(aim.filter, parts, subject) };
  return parts.isFit(subject) ? pass(facts) : stop("they do not pass the filter of its target", facts);
});

const excluded = byAim((_, aim, parts, subject) => {
  if (aim.excluded.length === 0) return null;
  const facts = { segments: segmentFacts(aim.excluded, aim, parts, subject) };
  return parts.isExcluded(subject) ? stop("they are in a segment that it excludes", facts) : pass(facts);
});

/** What decides who is in the audience. */
export const audienceGates: readonly Gate[] = [
  { gate: "targeted", judge: targeted },
  { gate: "segment", judge: segment },
  { gate: "filter", judge: filter },
  { gate: "excluded", judge: excluded },
];
