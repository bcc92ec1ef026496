import type { Db } from "mongodb";
import { type Audience, type AudienceCounts, activeMs, audienceOf } from "#core/domain/analytics/audience.ts";
import { funnelOf } from "#core/domain/analytics/funnel.ts";
import { type Cohort, retentionOf } from "#core/domain/analytics/retention.ts";
import type { Clock } from "#core/domain/clock.ts";
import { hourMs } from "#core/domain/durations.ts";
import { type Audiences, audiences, type ReadUser } from "#core/storage/analytics/audiences.ts";
import { quarterOf } from "#core/storage/analytics/due-quarters.ts";
import { type Beginner, type Histories, histories } from "#core/storage/analytics/histories.ts";
import { type OutcomePeopleOf, outcomePeople } from "#core/storage/analytics/outcome-people.ts";
import {
  type OutcomePeople,
  type PeopleQuestion,
  type PeopleReportRow,
  type PeopleResult,
  peopleReportCollection,
} from "#core/storage/analytics/people-reports.ts";
import { collectionOf, type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import { mergedIdsOf } from "#core/storage/people/removal.ts";
import type { Job, Progress } from "./job.ts";
import { job } from "./run.ts";

export type PeopleReportJobDeps = { db: Db; clock: Clock };

/** A report is not made again for so many times as long as making it took: one core is at most so little busy with it. */
const pauseTimes = 20;
const shortestPauseMs = 60_000;

/**
 * Counts who came back, how far people came, who is there, or whom outcomes are of, once somebody has asked. It does not give way: it would begin anew.
 * Source: docs/decisions/0203.
 */
export const peopleReportJob = ({ db, clock }: PeopleReportJobDeps): Job => {
  const read = { histories: histories(db), audiences: audiences(db), outcomeOf: outcomePeople(db) };
  return job<PeopleReportRow>({
    name: peopleReportCollection.name,
    rows: collectionOf<PeopleReportRow>(db, peopleReportCollection),
    run: async (row, progress) => {
      const [as_of, beganMs] = [clock.now(), performance.now()];
      let people = row.progress?.done ?? 0;
      const count = (items: number): void => {
        people += items;
        progress(items);
      };
      const result = await answerOf(read, ofRow(row), { question: row.question, asOf: as_of, progress: count });
      const pauseMs = Math.max(shortestPauseMs, pauseTimes * (performance.now() - beganMs));
      const rests_until = new Date(clock.now().getTime() + pauseMs);
      return { end: { dueAt: null, set: { as_of, result, counted: row.question, rests_until, read_before: people } } };
    },
  });
};

type Asked<Question> = { question: Question; asOf: Date; progress: Progress };
type Of<Kind extends PeopleQuestion["kind"]> = Extract<PeopleQuestion, { kind: Kind }>;

const answerOf = async (
  read: { histories: Histories; audiences: Audiences; outcomeOf: OutcomePeopleOf },
  of: OfApp,
  { question, ...rest }: Asked<PeopleQuestion>,
): Promise<PeopleResult> => {
  switch (question.kind) {
    case "audience":
      return { audience: await audience(read.audiences, of, { question, ...rest }) };
    case "funnel":
      return { steps: await funnel(read.histories, of, { question, ...rest }) };
    case "outcomes":
      return { outcomes: await outcomes(read.outcomeOf, of, { question, ...rest }) };
    case "retention":
      return { cohorts: await retention(read.histories, of, { question, ...rest }) };
  }
};

/** One name after another: each reads all of its events. */
const outcomes = async (read: OutcomePeopleOf, of: OfApp, { question, progress }: Asked<Of<"outcomes">>) => {
  const all: OutcomePeople[] = [];
  for (const name of question.names) {
    const one = await read(of, { name, counted: question.counted }, question.range);
    progress(one.unique_users);
    all.push(one);
  }
  return all;
};

const progressEach = 1_000; // users, subscriptions, or times that somebody was active
const usersAtOnce = 250_000; // some 50 MB; for each so many all activity is read again

/** Users a part at a time, with what each of them did: who is not there any more is in no number. */
const audience = async (
  read: Audiences,
  of: OfApp,
  { question, progress }: Asked<Of<"audience">>,
): Promise<AudienceCounts> => {
  const counted = audienceOf(question);
  const { from, to } = question.range;
  const since = new Date(Math.min(from.getTime(), to.getTime() - activeMs));
  for await (const people of partsOf(read.users(of), counted, progress))
    await each(read.activity(of, { from: since, to }), ({ user, at }) => people.get(user)?.(at), progress);
  await each(read.subscriptions(of), counted.subscription, progress);
  return counted.counts();
};

/** Shows now and then that it goes on. */
const each = async <One>(all: AsyncIterable<One>, see: (one: One) => void, progress: Progress): Promise<void> => {
  let seen = 0;
  for await (const one of all) {
    see(one);
    seen += 1;
    if (seen % progressEach === 0) progress(0);
  }
};

type BeActive = (at: Date) => void;

/** Parts of the users, each by all of their ids: what was stored of users who were merged into one names these still. */
async function* partsOf(
  users: AsyncIterable<ReadUser>,
  counted: Pick<Audience, "user">,
  progress: Progress,
): AsyncGenerator<ReadonlyMap<string, BeActive>> {
  let [part, seen] = [new Map<string, BeActive>(), 0];
  for await (const user of users) {
    const beActive = counted.user(user);
    for (const id of [user._id, ...mergedIdsOf(user)]) part.set(id, beActive);
    seen += 1;
    if (seen % progressEach === 0) progress(progressEach);
    if (seen % usersAtOnce > 0) continue;
    yield part;
    part = new Map();
  }
  progress(seen % progressEach);
  if (part.size > 0) yield part;
}

const retention = async (
  read: Histories,
  of: OfApp,
  { question, asOf, progress }: Asked<Of<"retention">>,
): Promise<Cohort[]> => {
  const { cohort, back, range } = question;
  const counted = retentionOf(question);
  const pages = cohort === null ? read.whoCame(of, range) : read.whoDid(of, cohort, range);
  for await (const found of pages) {
    const page = back === null ? found.map(byQuarter) : found;
    const people = peopleOf(page, counted.person);
    const names = [...people.keys()];
    const until = { from: firstOf(page), to: counted.end };
    const did = back === null ? read.sessions(of, names, until) : read.events(of, names, back, until);
    for await (const { name, at } of did) people.get(name)?.see(at);
    for (const person of new Set(people.values())) person.end();
    progress(page.length);
  }
  return counted.cohorts(asOf);
};

type Counting = { see: (at: Date) => void; end: () => void };

/** People of a page by each of their names. */
const peopleOf = (page: readonly Beginner[], personOf: (first: Date) => Counting | null): Map<string, Counting> =>
  new Map(
    page.flatMap(({ names, first }) => {
      const person = personOf(first);
      return person === null ? [] : names.map((name) => [name, person] as const);
    }),
  );

/** Sessions are kept by the quarter of an hour. */
const byQuarter = ({ names, first }: Beginner): Beginner => ({ names, first: quarterOf(first) });

const firstOf = (page: readonly Beginner[]): Date =>
  page.reduce((least, { first }) => (first < least ? first : least), page[0]?.first ?? new Date(0));

const funnel = async (read: Histories, of: OfApp, { question, asOf, progress }: Asked<Of<"funnel">>) => {
  const { steps, range, windowHours } = question;
  const windowMs = windowHours * hourMs;
  const counted = funnelOf({ steps, windowMs, range }, asOf);
  const until = { from: range.from, to: new Date(range.to.getTime() + windowMs) };
  for await (const page of read.whoDid(of, steps[0] ?? "", range)) {
    const names = page.flatMap((one) => one.names);
    let [way, name] = [counted.person(), ""];
    for await (const { person, moment } of read.moments(of, names, steps, until)) {
      if (name !== person) {
        way.end();
        [way, name] = [counted.person(), person];
      }
      way.see(moment);
    }
    way.end();
    progress(page.length);
  }
  return counted.steps();
};
