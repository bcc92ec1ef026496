import { isDeepStrictEqual } from "node:util";
import type { Db } from "mongodb";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { unseenTags } from "#core/domain/filters/warnings.ts";
import { judge } from "#core/domain/segments/judge.ts";
import { type Selection, segmentMembers, UnusableSegment } from "#core/domain/segments/members.ts";
import { isCountDue, nextTurn } from "#core/domain/segments/when-counted.ts";
import type { Announcer } from "#core/queue/announce.ts";
import { collectionOf, ofRow } from "#core/storage/mongo/collection.ts";
import {
  type SegmentCountRow,
  type SegmentCounts,
  segmentCountCollection,
  segmentCounts,
} from "#core/storage/segments/counts.ts";
import type { FactsOf } from "#core/storage/segments/facts.ts";
import { type SegmentPeople, segmentPeople } from "#core/storage/segments/people.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import { appSegments, type Segments, segmentCollection, TooManySegments } from "#core/storage/segments/segments.ts";
import { type SegmentWork, segmentWork } from "#core/storage/segments/work.ts";
import type { Job, JobResult, Progress } from "./job.ts";
import { job } from "./run.ts";

export type SegmentCountJobDeps = {
  db: Db;
  factsOf: FactsOf;
  announcer: Announcer;
  /** Aborts when the program stops. */
  stopping: AbortSignal;
  clock: Clock;
  random: Random;
};

/** Exact counts of segments: docs/decisions/0101. A run counts all of an app's people, and does not give way: it would begin anew. */
export const segmentCountJob = (deps: SegmentCountJobDeps): Job => {
  const { db } = deps;
  const stores = {
    counts: segmentCounts(db),
    segments: appSegments(db),
    work: segmentWork(db),
    people: segmentPeople(db, deps.factsOf),
  };
  return job<SegmentCountRow>({
    name: "segment_counts",
    rows: collectionOf<SegmentCountRow>(db, segmentCountCollection),
    run: (row, progress) => runCount({ ...deps, ...stores }, row, progress),
  });
};

type CountDeps = SegmentCountJobDeps & {
  counts: SegmentCounts;
  segments: Pick<Segments, "definitions" | "usersOf">;
  work: SegmentWork;
  people: Pick<SegmentPeople, "all">;
};
type Result = JobResult<SegmentCountRow>;

const runCount = async (deps: CountDeps, row: SegmentCountRow, progress: Progress): Promise<Result> => {
  const { clock, random, segments, counts } = deps;
  const segment = await deps.work.find(row._id);
  if (segment === null) return lookAgain(deps, row);
  const usedBy = (await segments.usersOf(row.app_id, [row._id])).get(row._id) ?? [];
  const now = clock.now();
  const state = { countedAt: segment.counted_at, askedAt: row.asked_at, isUsed: usedBy.length > 0 };
  if (!isCountDue(state, now))
    return { end: { dueAt: nextTurn(now, random), set: idle }, after: () => goOn(deps, row, now) };
  if (!(await counts.begin(row, now))) return wait(deps, row);
  const isAsked = segment.counted_at === null || row.asked_at >= segment.counted_at;
  const result = await count(deps, { row, segment, at: now, isAsked }, progress);
  const naming = usedBy.filter(({ type }) => type === "segment").map(({ id }) => ({ ...ownerOf(row), _id: id }));
  if (isAsked && result.facts?.["users"] !== undefined) await counts.ask(naming, now); // who is in them may have changed, too
  return { ...result, after: () => announce(deps, row, now) };
};

const idle = { waiting_since: null, is_counting: false };

const ownerOf = ({ tenant_id, app_id }: SegmentCountRow) => ({ tenant_id, app_id });

/** Programs that show it hear of it. */
const announce = (deps: CountDeps, row: SegmentCountRow, begunAt: Date): void => {
  deps.announcer.changed(segmentCollection.name, row._id, row.app_id);
  goOn(deps, row, begunAt);
};

/** The next of the app may begin; and what was asked for before the end of this run was written is due all the same. */
const goOn = ({ counts, clock }: CountDeps, { _id, app_id }: SegmentCountRow, begunAt: Date): void => {
  const now = clock.now();
  const next = [counts.askedSince(_id, begunAt, soon(clock)), counts.wakeNext(app_id, now)];
  for (const one of next) one.catch(() => undefined); // else they look by themselves
};

/** A count is asked for before its segment is stored: one that has not come for an hour is gone. */
const lookAgain = async ({ counts, clock }: CountDeps, row: SegmentCountRow): Promise<Result> => {
  const now = clock.now().getTime();
  if (now - row.asked_at.getTime() < keptMs) return { end: { dueAt: new Date(now + lookMs) } };
  await counts.drop(row);
  return { end: null, facts: { isGone: true } };
};

const keptMs = 3_600_000;
const lookMs = 60_000;

/**
 * One of an app is counted at a time: whoever finds another under way waits for that, or looks again when nobody wakes it.
 * The other may end before it is written that this one waits: so who waits is woken here when none is under way any more.
 */
const wait = (deps: CountDeps, row: SegmentCountRow): Result => {
  const { clock, random } = deps;
  const { waiting_since: since, app_id } = row;
  const now = clock.now();
  const dueAt = new Date(now.getTime() + waitMs * (1 + random()));
  return {
    end: { dueAt, set: { waiting_since: since ?? now, is_counting: false }, isWaiting: true },
    facts: { waitsFor: "another" },
    after: () => {
      deps.counts.wakeUnlessBusy(app_id, clock.now()).catch(() => undefined);
    },
  };
};

const waitMs = 30_000;

/** `isAsked`: its filter may have changed since it was counted. */
type Counting = { row: SegmentCountRow; segment: SegmentRow; at: Date; isAsked: boolean };

const count = async (deps: CountDeps, counting: Counting, progress: Progress): Promise<Result> => {
  const { clock, random, work, counts } = deps;
  const { row, segment, at, isAsked } = counting;
  const selection = await selectionOf(deps, counting);
  const again = { dueAt: nextTurn(clock.now(), random), set: idle };
  if (selection === null) return { end: again, facts: { isUnusable: true } };
  const found = await countAll(deps, { ...counting, selection }, progress);
  const askedAt = await counts.askedAt(row);
  if (found === null || askedAt === null) return { end: null, facts: { isSuperseded: true } };
  const { left, ...counted } = found;
  const tags = isAsked ? { unknown_tags: await nobodysTags(deps, row.app_id, left) } : {};
  await work.keepCount(segment, { ...counted, ...tags, counted_at: at });
  const after = await work.find(row._id);
  const isChanged = askedAt >= at || !isDeepStrictEqual(after?.filter, segment.filter);
  return { end: isChanged ? { ...again, dueAt: soon(clock) } : again, facts: { users: found.count } };
};

const soon = (clock: Clock): Date => new Date(clock.now().getTime() + soonMs);
const soonMs = 1_000;

/** Null while the segment names one that is gone, or itself, or too many. */
const selectionOf = async (
  { segments }: CountDeps,
  { row: { app_id, _id }, at }: Counting,
): Promise<Selection | null> => {
  try {
    return segmentMembers(await segments.definitions(app_id, [_id]), at).ofSegment(_id);
  } catch (error) {
    if (error instanceof UnusableSegment || error instanceof TooManySegments) return null;
    throw error;
  }
};

/** Tags that are asked about; each that nobody has costs a read of everybody. */
const mostTags = 10;

/** Those of some tags that nobody has. */
const nobodysTags = async ({ work }: CountDeps, appId: string, tags: ReadonlySet<string>): Promise<string[]> => {
  const unknown: string[] = [];
  for (const tag of [...tags].slice(0, mostTags)) if (!(await work.hasTag(appId, tag))) unknown.push(tag);
  return unknown;
};

/** `left`: tags that none of those who were read has. */
type Found = { count: number; by_channel: Record<string, number>; left: ReadonlySet<string> };

/** Null when it is no longer asked for. */
const countAll = async (
  { people, counts, stopping }: CountDeps,
  { row, segment, selection }: Counting & { selection: Selection },
  progress: Progress,
): Promise<Found | null> => {
  const { left, see } = unseenTags(parseFilter(segment.filter ?? { all: [] }));
  const found: Found = { count: 0, by_channel: {}, left };
  let lookedAtMs = performance.now();
  for await (const page of people.all(ofRow(row), { ...selection, query: selection.query("users") }, stopping)) {
    for (const one of page) {
      if (left.size > 0) see(one.person);
      add(found, judge(selection, one));
    }
    progress(page.length); // throws when the program stops, or another has the job
    if (performance.now() - lookedAtMs < lookEachMs) continue;
    lookedAtMs = performance.now();
    if ((await counts.askedAt(row)) === null) return null;
  }
  if (stopping.aborted) progress(0); // throws: what was read is not all
  return found;
};

const add = (found: Found, { isMember, passing }: ReturnType<typeof judge>): void => {
  if (!isMember) return;
  found.count++;
  for (const { channel, status } of passing)
    if (status === "subscribed") found.by_channel[channel] = (found.by_channel[channel] ?? 0) + 1;
};

const lookEachMs = 1_000;
