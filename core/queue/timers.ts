import { setTimeout as sleep } from "node:timers/promises";
import type { Collection, Db, Filter } from "mongodb";
import type { Clock } from "../domain/clock.ts";
import { countAside, type QueueMetrics } from "../runtime/metrics/queue.ts";
import type { Part } from "../runtime/process/lifecycle.ts";
import type { Log } from "../runtime/process/log.ts";
import { longAgo } from "../storage/mongo/collection.ts";
import { readWithin, type Within } from "../storage/mongo/read-within.ts";
import { heldLeases } from "../storage/work/held-leases.ts";
import type { Leasable } from "../storage/work/leases.ts";
import { handleInTurn, type OfTenant } from "./due-in-turn.ts";
import { type DueSource, type HandleDeps, handlePage } from "./due-page.ts";
import { type KeptLeases, keptLeases, type OwnedLease } from "./kept-leases.ts";

/** Documents whose `due_at` is watched. */
export type TimerSource<Row extends Leasable, Member extends keyof Row & string> = {
  name: string;
  collection: Collection<Row>;
  /** Members that `handle` needs, beside `_id`, `fence` and `due_at`. */
  select: readonly Member[];
  /**
   * Publishes one document's hint, or does what is due of it. A refusal (the stream is full) counts as handled: the
   * document is due again in 10 s. One that throws although the stores answer is set aside.
   */
  handle: (row: PartOf<NoInfer<Row>, NoInfer<Member>>, signal?: AbortSignal) => Promise<unknown>;
  /** Leaves it to whoever is called to say that a document which was set aside works again. */
  leavesAside?: true;
  /** Documents that are handled at a time; 64 when left out. For those of which `handle` reads more. */
  atOnce?: number;
  /**
   * All processes handle it at the same time, some documents of each tenant in turn. `handle` takes a document first, so
   * that it has it alone; the rows have `tenant_id` and the index `turnIndex`.
   */
  inTurn?: true;
  /** How often it is looked at, in ms; 500 when left out. For what is due only because a hint was lost, or is in no hurry. */
  everyMs?: number | (() => number);
};

/**
 * A document of which some members were read. The others are of a type that fits none, so that nothing can be handed this
 * which looks at more, not even at a member that may be absent.
 */
export type PartOf<Row extends Leasable, Member extends keyof Row> = Pick<Row, Member | Always> & {
  readonly [Other in Exclude<keyof Row, Member | Always>]?: NotRead;
};

type Always = "_id" | "fence" | "due_at" | "set_aside";
declare const notRead: unique symbol;
type NotRead = { readonly [notRead]: never };

/** A source whose kind of row no longer matters. */
export type AnyTimerSource = { name: string; run: (deps: WatchDeps, signal: AbortSignal) => Promise<void> };

/** Readies a source for {@link timers}. */
export const timerSource = <Row extends Leasable, Member extends keyof Row & string>(
  source: TimerSource<Row, Member>,
): AnyTimerSource => {
  const handle: Watched<Row>["handle"] = (row, signal) => source.handle(row as PartOf<Row, Member>, signal); // so it was read
  return { name: source.name, run: (deps, signal) => watch({ ...source, handle }, deps, signal) };
};

type Watched<Row extends Leasable> = DueSource<Row> &
  Pick<TimerSource<Row, keyof Row & string>, "select" | "everyMs" | "inTurn">;

export type TimersDeps = {
  /** Who runs them: unique to a process. */
  holder: string;
  clock: Clock;
  log: Log;
  db: Db;
  metrics: QueueMetrics;
};

type WatchDeps = TimersDeps & { leases: KeptLeases };

/**
 * Handles every document whose `due_at` has passed, about every 500 ms or as its source says, oldest first, and has it due again 10 s later in case
 * its hint is lost. Serves timers, retries, the expiry of leases and the sweep alike (docs/decisions/0001).
 * Of all processes that run it, one at a time serves a source, unless it says otherwise.
 */
export const timers = ({ sources, ...deps }: TimersDeps & { sources: readonly AnyTimerSource[] }): Part => {
  const stopping = new AbortController();
  let loops: Promise<unknown> = Promise.resolve();
  return {
    name: "timers",
    start: async () => {
      const { db, holder, clock } = deps;
      const leases = keptLeases({ leaseMs, clock, leases: heldLeases(db, { holder, leaseMs, clock }) });
      loops = Promise.all(sources.map((source) => source.run({ ...deps, leases }, stopping.signal)));
    },
    stop: async () => {
      stopping.abort(new Error("the timers are stopping"));
      await loops;
    },
  };
};

const stepMs = 500;
/** Sources that begin together would all ask the store in the same moment, each second: what is sent then would wait. */
const spread = (): number => 0.8 + 0.4 * Math.random();
const leaseMs = 3_000; // when the process that serves a source is killed, another begins after so long
const pageRows = 1_000;
const pageBytes = 16_000_000; // a user has up to 1.5 MB
const failureMs = { first: 500, most: 5_000 };

const watch = async <Row extends Leasable>(source: Watched<Row>, deps: WatchDeps, stop: AbortSignal): Promise<void> => {
  const { leases, clock, log, metrics } = deps;
  const setAside = countAside(metrics, source.name);
  metrics.timersHandled.inc({ source: source.name }, 0); // as counterFromZero has it
  metrics.timerLagSeconds.zero({ source: source.name });
  const lease = leases.keep(`timers/${source.name}`);
  const suspects = new Set<string>();
  let failures = 0;
  while (!stop.aborted) {
    const beganMs = clock.now().getTime();
    try {
      const handling = { ...deps, setAside, suspects };
      if (source.inTurn === true) await handleInTurn(ofTenants(source), handling, stop);
      else if (await lease.isOurs()) await handleAllDue(source, handling, { lease, stop });
      if (failures > 0) log.info({ source: source.name, failures }, "timers.back");
      failures = 0;
    } catch (err) {
      if (stop.aborted) break;
      if (failures++ === 0) log.warn({ source: source.name, err }, "timers.failed");
    }
    const failedMs = failures === 0 ? 0 : Math.min(failureMs.first * 2 ** (failures - 1), failureMs.most);
    const everyMs = everyMsOf(source);
    const restMs = everyMs * spread() - (clock.now().getTime() - beganMs);
    await sleep(Math.max(failedMs, Math.min(restMs, 2 * everyMs), 1), undefined, { signal: stop }).catch(
      () => undefined,
    );
  }
  await lease.release().catch(() => undefined); // it expires by itself
};

const everyMsOf = <Row extends Leasable>({ everyMs = stepMs }: Watched<Row>): number =>
  typeof everyMs === "number" ? everyMs : everyMs();

/** A source that says `inTurn` says by that what its rows have. */
const ofTenants = <Row extends Leasable>(source: Watched<Row>) => source as unknown as DueSource<OfTenant>;

const handleAllDue = async <Row extends Leasable>(
  source: Watched<Row>,
  deps: HandleDeps,
  { lease, stop }: { lease: OwnedLease; stop: AbortSignal },
): Promise<void> => {
  let isMore = true;
  while (isMore && !stop.aborted && (await lease.isOurs())) {
    const { rows, isWhole } = await oldestDue(source, deps.clock);
    if (rows.length > 0) await handlePage(source, rows, deps, stop);
    isMore = !isWhole || rows.length === pageRows;
  }
};

/** A page of them, or as many as come to {@link pageBytes}. */
const oldestDue = <Row extends Leasable>({ collection, select }: Watched<Row>, clock: Clock): Promise<Within<Row>> => {
  const isDue = { due_at: { $gt: longAgo, $lte: clock.now() } } as Filter<Row>; // sound: Row has the members of Leasable
  const members = ["fence", "due_at", "set_aside", ...select];
  const found = collection
    .find(isDue)
    .project<Row>(Object.fromEntries(members.map((member) => [member, 1]))) // it is one, as far as `select` goes
    .sort({ due_at: 1 })
    .limit(pageRows)
    .batchSize(pageRows + 1);
  return readWithin(found, pageBytes);
};
