import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { OwnerTiming } from "#core/domain/timing.ts";
import { balance, type Member, type Owner, shareOf } from "#core/domain/webhooks/shares.ts";
import { elapsedFrom, type MonotonicMs } from "#core/runtime/process/elapsed.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { WebhookShares } from "#core/storage/webhooks/shares.ts";
import { beats } from "./beats.ts";

export type SharesDeps = {
  table: WebhookShares;
  /** Unique to this process. */
  holder: string;
  /** Tells the other processes that the table has changed, and this one when another says so. */
  changed: { publish: () => void; on: (listener: () => void) => Promise<() => void> };
  /** This process owns a share now. */
  onTaken: (share: number) => void;
  /** Another process has taken a share of this one, which took too long. */
  onLost: (share: number) => void;
  /** A process has not written for a while, and may be gone: nothing is to be waited for that it was asked. */
  onSilent: (holder: string) => void;
  /** Hears how many processes there are, those that leave left out, whenever the table was read. */
  onMembers: (count: number) => void;
  /** Resolves when nothing is under way or in memory for a share, for which nothing new is begun. */
  drain: (share: number) => Promise<void>;
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

/**
 * Which endpoints this process owns, and who owns the others (docs/decisions/0047). All processes agree by writing one
 * document in turn, each over what it has read.
 */
export class Shares implements Part {
  readonly name = "webhook shares";
  readonly #deps: SharesDeps;
  readonly #timing: OwnerTiming;
  readonly #beats: ReturnType<typeof beats>;
  readonly #beating: Part;
  readonly #left = Promise.withResolvers<void>();
  #members: readonly Member[] = [];
  #owners: readonly Owner[] = [];
  /** How long ago the write began that is trusted. */
  #sinceWritten: () => number = () => Number.POSITIVE_INFINITY;
  #wroteMs = Number.NEGATIVE_INFINITY;
  #isLeaving = false;
  /** Shares that are to be given up; true once they are drained. */
  readonly #draining = new Map<number, { isDrained: boolean }>();
  /** Processes that did not answer, and their beats at that time. */
  readonly #doubted = new Map<string, number>();
  #silent: ReadonlySet<string> = new Set();
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #endNotices = (): void => undefined;

  constructor(deps: SharesDeps) {
    this.#deps = deps;
    this.#timing = deps.timing.owners;
    this.#beats = beats(this.#timing);
    const onError = (err: unknown): void => deps.log.warn({ err }, "webhook_shares.failed");
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

  /** Who is to be asked about an endpoint: this process, another, or nobody that is known to answer. */
  ownerOf(endpointId: string): string | null {
    const holder = this.#owners[shareOf(endpointId)]?.holder ?? null;
    return holder === null || this.#doubted.has(holder) || this.#silent.has(holder) ? null : holder;
  }

  /**
   * The fence under which this process serves an endpoint: null when it does not, is to give it up, or may have lost it, as
   * a process finds out here that stood still for long.
   */
  fenceOf(endpointId: string): number | null {
    const share = shareOf(endpointId);
    return this.isOwned(share) && !this.#draining.has(share) ? (this.#owners[share]?.fence ?? null) : null;
  }

  /** Whether this process certainly owns a share. */
  isOwned(share: number): boolean {
    return this.#owners[share]?.holder === this.#deps.holder && this.#sinceWritten() < this.#timing.trustMs;
  }

  owned(): number[] {
    return this.#owners.flatMap((_, share) => (this.isOwned(share) ? [share] : []));
  }

  /** A process did not answer: until it beats again, nobody is known to own its shares. */
  doubt(holder: string): void {
    this.#doubted.set(holder, this.#beatOf(holder));
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
    const { table: store, holder: me, clock, changed, onSilent } = this.#deps;
    const [beganMs, sinceBegun] = [this.#nowMs(), elapsedFrom(clock, this.#deps.monotonicMs)];
    const before = await store.read(clock.now());
    const { gone, silent } = this.#beats(before.members, beganMs);
    this.#silent = silent;
    for (const holder of silent) onSilent(holder);
    const drained = new Set([...this.#draining].flatMap(([share, { isDrained }]) => (isDrained ? [share] : [])));
    const { table, excess } = balance(before, { me, isLeaving: this.#isLeaving, gone, drained });
    const isChange = !isDeepStrictEqual(
      [before.owners, presence(before.members)],
      [table.owners, presence(table.members)],
    );
    const isDue = isChange || beganMs - this.#wroteMs >= this.#timing.beatMs / 2;
    if (isDue && !(await store.replace(before, table))) return false;
    if (isDue) this.#wroteMs = beganMs;
    if (isDue) this.#sinceWritten = sinceBegun;
    this.#use(isDue ? table : before, excess);
    if (isChange) changed.publish();
    return true;
  }

  #use({ members, owners }: { members: readonly Member[]; owners: readonly Owner[] }, excess: readonly number[]): void {
    const { holder: me, onTaken, onLost, onMembers, log } = this.#deps;
    onMembers(members.filter(({ isLeaving }) => !isLeaving).length);
    const before = ownedBy(me, this.#owners);
    const after = ownedBy(me, owners);
    [this.#owners, this.#members] = [owners, members];
    for (const [holder, beat] of this.#doubted) if (this.#beatOf(holder) !== beat) this.#doubted.delete(holder);
    const taken = [...after].flatMap(([share, fence]) => (before.get(share) === fence ? [] : [share]));
    const gone = [...before].flatMap(([share, fence]) => (after.get(share) === fence ? [] : [share]));
    const lost = gone.filter((share) => !this.#draining.get(share)?.isDrained);
    for (const share of lost) onLost(share);
    const wanted = new Set(excess);
    const kept = [...this.#draining.keys()].filter((share) => !wanted.has(share));
    for (const share of kept) this.#draining.delete(share);
    for (const share of new Set([...taken, ...kept])) if (after.has(share) && !wanted.has(share)) onTaken(share);
    for (const share of excess) if (!this.#draining.has(share)) void this.#drain(share);
    if (taken.length + gone.length > 0)
      log.info({ owned: after.size, lost: lost.length, members: members.length }, "webhook_shares.changed");
    if (this.#isLeaving && !members.some(({ holder }) => holder === me)) this.#left.resolve();
  }

  async #drain(share: number): Promise<void> {
    const draining = { isDrained: false };
    this.#draining.set(share, draining);
    await this.#deps.drain(share);
    draining.isDrained = true;
    if (this.#draining.get(share) === draining) await this.look().catch(() => undefined); // the next beat does it
  }

  #beatOf(holder: string): number {
    return this.#members.find((member) => member.holder === holder)?.beat ?? 0;
  }

  #nowMs(): number {
    return (this.#deps.monotonicMs ?? performance.now.bind(performance))();
  }
}

/** The shares of one process, and under which fence. */
const ownedBy = (me: string, owners: readonly Owner[]): Map<number, number> =>
  new Map(owners.flatMap(({ holder, fence }, share) => (holder === me ? [[share, fence]] : [])));

/** Who takes part, whatever their beats. */
const presence = (members: readonly Member[]): string[] =>
  members.map(({ holder, isLeaving }) => `${holder} ${isLeaving}`).sort();
