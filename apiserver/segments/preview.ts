import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import { conditionsOf } from "#core/domain/filters/tree.ts";
import { filterWarnings } from "#core/domain/filters/warnings.ts";
import { type Counts, counter } from "#core/domain/segments/count.ts";
import { segmentMembers } from "#core/domain/segments/members.ts";
import { semaphore } from "#core/runtime/batching/bounded.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { SegmentPreview } from "#core/schema/segments/segment.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { CheckedFilter } from "#core/storage/segments/check-filter.ts";
import type { SegmentPeople } from "#core/storage/segments/people.ts";

export type PreviewDeps = {
  people: Pick<SegmentPeople, "all">;
  clock: Clock;
  log: Log;
  /** How long an answer waits for its count, ms. */
  waitMs?: number;
};

/** Somebody waits for the answer; what is not counted by then goes on being counted. Source: docs/reference/segments.md#preview. */
const standardWaitMs = 800; // so that an answer takes a second
const mostMs = 120_000; // of one count: some 10,000,000 people
const keptMs = 60_000; // what was counted is the answer for so long
const lastMs = 86_400_000; // and the last that is known while it is counted anew
const mostKept = 1_000; // previews, of a few kB each
const countsAtOnce = 2;

type Counted = { counts: Counts; at: Date; endedAt: Date };

/**
 * Counts whom a filter means. Who asks waits a second at most: a large app is counted on in the background, and asking
 * again for the same gives the result. Until then what was counted last is the answer, where this process has counted it. All of an app are counted in one pass, each condition by itself as well.
 */
export const previewSegment = (deps: PreviewDeps) => {
  const { waitMs = standardWaitMs } = deps;
  const known = new LRUCache<string, Counted>({ ...atMostEntries(mostKept), ttl: lastMs });
  const fresh = (key: string): boolean => {
    const endedAt = known.get(key)?.endedAt;
    return endedAt !== undefined && deps.clock.now().getTime() - endedAt.getTime() < keptMs;
  };
  const underWay = new Map<string, Promise<void>>();
  const gate = semaphore(countsAtOnce);

  const start = (key: string, app: AppRow, checked: CheckedFilter): Promise<void> => {
    const counting = gate
      .run(async () => void known.set(key, await countAll(deps, app, checked)))
      .catch((err: unknown) => deps.log.warn({ err, app: app._id }, "segment.not_counted"))
      .finally(() => underWay.delete(key));
    underWay.set(key, counting);
    return counting;
  };

  return async (app: AppRow, checked: CheckedFilter): Promise<SegmentPreview> => {
    const key = keyOf(app, checked);
    if (!fresh(key)) {
      const counting = underWay.get(key) ?? start(key, app, checked);
      await Promise.race([counting, sleep(waitMs, undefined, { ref: false })]);
    }
    return shown(checked, known.get(key) ?? null, fresh(key));
  };
};

/** The filter, and what is said of the segments that it names. */
const keyOf = ({ _id }: AppRow, { filter, definitions }: CheckedFilter): string =>
  createHash("sha256")
    .update(JSON.stringify([_id, filter, [...definitions.values()]]))
    .digest("base64url");

const countAll = async ({ people, clock }: PreviewDeps, app: AppRow, checked: CheckedFilter): Promise<Counted> => {
  const at = clock.now();
  const members = segmentMembers(checked.definitions, at);
  const counting = counter(members, checked.tree);
  const { asks, reads } = members.ofFilter(checked.tree);
  const signal = AbortSignal.timeout(mostMs);
  for await (const page of people.all(ofApp(app), { ...everybody, asks, reads }, signal))
    for (const one of page) counting.add(one);
  signal.throwIfAborted();
  return { counts: counting.counts, at, endedAt: clock.now() };
};

/** Each condition is counted by itself: nobody is left out because of another. */
const everybody = { query: {}, mayPass: () => true, isOfPeople: true };

const shown = ({ tree }: CheckedFilter, counted: Counted | null, isExact: boolean): SegmentPreview => ({
  recipients: counted && Object.values(counted.counts.byChannel).reduce((sum, count) => sum + count, 0),
  users: counted && counted.counts.users,
  by_channel: counted && counted.counts.byChannel,
  is_exact: isExact,
  as_of: counted && counted.at.toISOString(),
  conditions: conditionsOf(tree).map(({ path }, i) => ({ path, passed: counted?.counts.passed[i] ?? null })),
  sample: counted === null ? [] : counted.counts.sample,
  warnings: filterWarnings(tree, [...(counted?.counts.unknownTags ?? [])]),
});
