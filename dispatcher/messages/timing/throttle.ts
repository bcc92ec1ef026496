import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#core/domain/clock.ts";
import { everyMsOf, isLate, nextSlot, type Reserved, reservedAtOnce } from "#core/domain/messages/slots.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Throttles } from "#core/storage/messages/throttles.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";

export type ThrottleDeps = { throttles: Throttles; stopping: AbortSignal; clock: Clock };

/**
 * The instants of a run's sends. `take` waits for the next one; false when it was given up meanwhile. `answered` is called
 * after each send: an account that has sent nothing for a while is tried by one, as what waits for its connection would
 * go out at once.
 */
export type Slots = { take: () => Promise<boolean>; answered: () => void };

/** Sends a minute that a message makes at most; null: as many as can be. */
export const rateOf = ({ throttle_per_minute: rate }: Pick<MessageRow, "throttle_per_minute">): number | null =>
  rate ?? null;

/**
 * Spreads the first sends of a chunk of a throttled message: each has an instant of its own, which no other dispatcher has.
 * Null for what is not throttled. Time is reserved for at most as many as are left of the chunk, so that none is wasted, and
 * before it is needed. Source: docs/reference/timing.md#throttle.
 */
export const throttle = (deps: ThrottleDeps) => {
  const warm = warmAccounts(deps.clock);
  return (message: MessageRow, chunk: ChunkRow, recipients: number): Slots | null => {
    const rate = rateOf(message);
    if (rate === null || chunk.attempt > 0) return null;
    const account = `${chunk.app_id}/${chunk.channel}`;
    const first = Promise.withResolvers<void>();
    let isFirst = !warm.has(account);
    if (!isFirst) first.resolve();
    const next = instants(deps, { message, rate, recipients, isAlone: () => isFirst });
    const take = async (): Promise<boolean> => {
      const isTrial = isFirst;
      if (!isTrial) await first.promise;
      return waitFor(deps, next, () => (isFirst = false));
    };
    const answered = (): void => {
      warm.add(account);
      first.resolve();
    };
    return { take, answered };
  };
};

const warmForMs = 30_000;
const mostAccounts = 1_000;

/** Accounts that were answered a moment ago. */
const warmAccounts = (clock: Clock) => {
  const known = new Map<string, number>();
  return {
    has: (account: string): boolean => clock.now().getTime() - (known.get(account) ?? 0) < warmForMs,
    add: (account: string): void => {
      if (known.size >= mostAccounts) known.clear();
      known.set(account, clock.now().getTime());
    },
  };
};

/** Waits for an instant that is met; one that is missed is lost. */
const waitFor = async (
  { stopping, clock }: ThrottleDeps,
  next: () => Promise<number>,
  onTaken: () => void,
): Promise<boolean> => {
  for (;;) {
    const taken = next();
    onTaken();
    const atMs = await taken;
    const inMs = atMs - clock.now().getTime();
    if (inMs > 0 && !(await sleep(inMs, true, { signal: stopping }).catch(() => false))) return false;
    if (!isLate(atMs, clock.now().getTime())) return true;
  }
};

type Wanted = { message: MessageRow; rate: number; recipients: number; isAlone: () => boolean };

/** Gives the next instant, to callers in order of coming. */
const instants = ({ throttles, clock }: ThrottleDeps, { message, rate, recipients, isAlone }: Wanted) => {
  const everyMs = everyMsOf(rate);
  let left = recipients;
  let reserved: Reserved = { fromMs: 0, count: 0, everyMs };
  let upcoming: Promise<Reserved> | null = null;

  const reserve = async (most = reservedAtOnce(rate)): Promise<Reserved> => {
    const count = Math.max(1, Math.min(left, most));
    left -= count;
    const of = { now: clock.now(), forMs: count * everyMs };
    return { fromMs: await throttles.reserve(ofRow(message), message._id, of), count, everyMs };
  };
  const reserveAhead = (): Promise<Reserved> => {
    const reserving = reserve();
    reserving.catch(() => undefined); // who needs it is told
    return reserving;
  };
  const nextOne = async (most: number): Promise<number> => {
    for (;;) {
      const slot = nextSlot(reserved, clock.now().getTime());
      if (slot !== null) {
        reserved = slot.rest;
        if (most > 1 && reserved.count <= most / 2 && left > 0) upcoming ??= reserveAhead();
        return slot.atMs;
      }
      const coming = upcoming ?? reserve(most);
      upcoming = null;
      reserved = await coming;
    }
  };
  let order: Promise<unknown> = Promise.resolve();
  return (): Promise<number> => {
    const most = isAlone() ? 1 : reservedAtOnce(rate);
    const taken = order.then(() => nextOne(most));
    order = taken.catch(() => undefined);
    return taken;
  };
};
