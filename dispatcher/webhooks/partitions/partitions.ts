import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { OwnerTiming } from "#core/domain/timing.ts";
import { balance, type Member } from "#core/domain/webhooks/owners.ts";
import { elapsedFrom, type MonotonicMs } from "#core/runtime/process/elapsed.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { PartitionTableRow, WebhookOwners } from "#core/storage/webhooks/owners.ts";
import { beats } from "./beats.ts";
import { lastRelease } from "./last-release.ts";

export type PartitionsDeps = {
  tables: WebhookOwners;
  /** Unique to this process. */
  holder: string;
  /** Tells the other processes that the table has changed, and this one when another says so. */
  changed: { publish: () => void; on: (listener: () => void) => Promise<() => void> };
  /** This process owns a partition now. */
  onTaken: (partition: number) => void;
  /** Another process has taken a partition of this one, which took too long. */
  onLost: (partition: number) => void;
  /** Resolves when nothing is under way or in memory for a partition, for which nothing new is begun. */
  drain: (partition: number) => Promise<void>;
  /** A process has not written for a while, and may be gone. */
  onSilent: (holder: string) => void;
  /** Hears how many processes there are, those that leave left out, whenever the table was read. */
  onMembers: (count: number) => void;
  clock: Clock;
  /** `performance.now()` when left out. */
  monotonicMs?: MonotonicMs;
  random: Random;
  timing: { owners: OwnerTiming };
  log: Log;
};

/** A write that others were quicker than is made anew so often, each time after a pause by chance; then with the next beat. */
const writes = 5;
const pauseMs = 100;

/** Who owns which partition, and whether owners serve endpoints. */
type Table = Omit<PartitionTableRow, "_id" | "version">;

const noTable: Table = { members: [], owners: [], base: 0, serves: false };

/**
 * Which partitions this process owns (docs/decisions/0048). All processes agree by writing one document in turn, each over
 * what it has read.
 */
export class Partitions implements Part {
  readonly name = "webhook partitions";
  readonly #deps: PartitionsDeps;
  readonly #timing: OwnerTiming;
  readonly #beats: ReturnType<typeof beats>;
  readonly #lastRelease: ReturnType<typeof lastRelease>;
  readonly #beating: Part;
  readonly #left = Promise.withResolvers<void>();
  #table = noTable;
  /** How long ago the write began that is trusted. */
  #sinceWritten: () => number = () => Number.POSITIVE_INFINITY;
  #wroteMs = Number.NEGATIVE_INFINITY;
  #isLeaving = false;
  /** Partitions that are to be given up; true once they are drained. */
  readonly #draining = new Map<number, { isDrained: boolean }>();
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #endNotices = (): void => undefined;

  constructor(deps: PartitionsDeps) {
    this.#deps = deps;
    this.#timing = deps.timing.owners;
    this.#beats = beats(this.#timing);
    this.#lastRelease = lastRelease(deps.tables.former, this.#timing);
    const onError = (err: unknown): void => deps.log.warn({ err }, "webhook_partitions.failed");
    this.#beating = passes({ name: this.name, everyMs: this.#timing.beatMs, pass: () => this.look(), onError });
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#endNotices = await this.#deps.changed.on(() => void this.look().catch(() => undefined));
    await this.look().catch(() => undefined); // else with the first beat
    await this.#beating.start(signal);
  }

  /** Drains all that it owns, gives it back and says so; what is not drained in time others take when it is gone. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#isLeaving = true;
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => aborted.resolve(), { once: true });
    if (signal.aborted) aborted.resolve();
    void this.look().catch(() => undefined);
    await Promise.race([this.#left.promise, aborted.promise]);
    await this.#beating.stop(signal);
    this.#endNotices();
  }

  /**
   * The fence under which this process serves the endpoints of a partition: null when it does not, is to give it up, or may
   * have lost it, as a process finds out here that stood still for long.
   */
  fenceOf(partition: number): number | null {
    const owner = this.#table.owners[partition];
    const isServed = owner !== undefined && this.isOwned(partition) && !this.#draining.has(partition);
    return isServed ? this.#table.base + owner.fence : null;
  }

  /** Whether this process certainly owns a partition, and owners serve. */
  isOwned(partition: number): boolean {
    const { owners, serves } = this.#table;
    return serves && owners[partition]?.holder === this.#deps.holder && this.#sinceWritten() < this.#timing.trustMs;
  }

  /** Whether others served a partition when the table was last read: that it may have lost one of its own meanwhile says nothing. */
  isElsewhere(partition: number): boolean {
    const { owners, serves } = this.#table;
    return !serves || owners[partition]?.holder !== this.#deps.holder;
  }

  owned(): number[] {
    return this.#table.owners.flatMap((_, partition) => (this.isOwned(partition) ? [partition] : []));
  }

  /** Reads the table, after this moment, and writes what is to change in it. @throws when the store is away */
  look(): Promise<void> {
    if (this.#looking === undefined) {
      this.#looking = this.#look().finally(() => (this.#looking = undefined));
      return this.#looking;
    }
    this.#next ??= this.#looking
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.look();
      });
    return this.#next;
  }

  async #look(): Promise<void> {
    for (let write = 0; write < writes; write++) {
      if (await this.#isDone()) return;
      await sleep(this.#deps.random() * pauseMs);
    }
  }

  /** False when others have written meanwhile. */
  async #isDone(): Promise<boolean> {
    const { tables, holder: me, clock, changed, onSilent } = this.#deps;
    const [beganMs, sinceBegun] = [this.#nowMs(), elapsedFrom(clock, this.#deps.monotonicMs)];
    const isDue = beganMs - this.#wroteMs >= this.#timing.beatMs / 2;
    const beaten = isDue ? await tables.partitions.beat(me) : null;
    const before = beaten ?? (await tables.partitions.read(clock.now()));
    const former = await this.#lastRelease(clock.now(), beganMs);
    const { gone, silent } = this.#beats(before.members, beganMs);
    for (const holder of silent) onSilent(holder);
    const drained = new Set(
      [...this.#draining].flatMap(([partition, { isDrained }]) => (isDrained ? [partition] : [])),
    );
    const isYielding = former.isThere && before.serves;
    const { table, excess } = balance(before, { me, isLeaving: this.#isLeaving, isYielding, gone, drained });
    const serving = await former.next(before, table.owners);
    if (serving === null) return false;
    const after = { ...table, ...serving };
    const isChange = !isDeepStrictEqual(stateOf(before), stateOf(after));
    if (isChange && !(await tables.partitions.replace(before, after))) return false;
    const isWritten = isChange || beaten !== null;
    if (isWritten) await former.follow(after);
    const hadLapsed = this.#sinceWritten() >= this.#timing.trustMs; // what came meanwhile was left to the store
    if (isWritten) [this.#wroteMs, this.#sinceWritten] = [beganMs, sinceBegun];
    this.#use(isChange ? after : before, excess, hadLapsed);
    if (isChange) changed.publish();
    return true;
  }

  #use(table: Table, excess: readonly number[], hadLapsed: boolean): void {
    const { holder: me, onTaken, onLost, onMembers, log } = this.#deps;
    const before = ownedBy(me, this.#table);
    const after = ownedBy(me, table);
    this.#table = table;
    onMembers(table.members.filter(({ isLeaving }) => !isLeaving).length);
    const taken = [...after].flatMap(([partition, since]) => (before.get(partition) === since ? [] : [partition]));
    const gone = [...before].flatMap(([partition, since]) => (after.get(partition) === since ? [] : [partition]));
    const lost = gone.filter((partition) => !this.#draining.get(partition)?.isDrained);
    for (const partition of lost) onLost(partition);
    const wanted = new Set(excess);
    const kept = [...this.#draining.keys()].filter((partition) => !wanted.has(partition));
    for (const partition of kept) this.#draining.delete(partition);
    for (const partition of new Set([...(hadLapsed ? after.keys() : taken), ...kept]))
      if (after.has(partition) && !wanted.has(partition)) onTaken(partition);
    for (const partition of excess) if (!this.#draining.has(partition)) void this.#drain(partition);
    const { serves, members } = table;
    if (taken.length + gone.length > 0)
      log.info({ owned: after.size, serves, lost: lost.length, members: members.length }, "webhook_partitions.changed");
    if (this.#isLeaving && !members.some(({ holder }) => holder === me)) this.#left.resolve();
  }

  async #drain(partition: number): Promise<void> {
    const draining = { isDrained: false };
    this.#draining.set(partition, draining);
    await this.#deps.drain(partition);
    draining.isDrained = true;
    if (this.#draining.get(partition) === draining) await this.look().catch(() => undefined); // the next beat does it
  }

  #nowMs(): number {
    return (this.#deps.monotonicMs ?? performance.now.bind(performance))();
  }
}

/** The partitions of one process; each with a text that is another one once it was taken anew, or is to be served. */
const ownedBy = (me: string, { owners, base, serves }: Table): Map<number, string> =>
  new Map(
    owners.flatMap(({ holder, fence }, partition) => (holder === me ? [[partition, `${base + fence} ${serves}`]] : [])),
  );

/** What others are to hear of at once: all but the beats. */
const stateOf = ({ owners, members, base, serves }: Table): unknown => [owners, presence(members), base, serves];

/** Who takes part, whatever their beats. */
const presence = (members: readonly Member[]): string[] =>
  members.map(({ holder, isLeaving }) => `${holder} ${isLeaving}`).sort();
