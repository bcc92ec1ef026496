/** Runs work of a tenant when it has a place; `later` when too much waits already, or `signal` aborts before its turn. */
export type Turns = <T>(tenantId: string, work: () => Promise<T>, signal: AbortSignal) => Promise<T | "later">;

/** How many places there are, and how much may wait for one. */
export type TurnsLimits = { places: number; waiting: number };

/**
 * Gives places to tenants in turn: one that has much to do has half of the places at most, and of what waits each tenant's
 * first has its turn before the second of any. When too much waits, who has the most waiting makes queue.
 */
export const tenantTurns = ({ places, waiting }: TurnsLimits): Turns => {
  const mostOfTenant = Math.ceil(places / 2);
  const running = new Map<string, number>();
  const queue = waitingWork(waiting);
  let taken = 0;

  const mayBegin = (tenantId: string): boolean => taken < places && (running.get(tenantId) ?? 0) < mostOfTenant;
  const take = (tenantId: string): void => {
    taken++;
    running.set(tenantId, (running.get(tenantId) ?? 0) + 1);
  };
  const leave = (tenantId: string): void => {
    taken--;
    const left = (running.get(tenantId) ?? 0) - 1;
    if (left > 0) running.set(tenantId, left);
    else running.delete(tenantId);
    const next = queue.next(mayBegin);
    if (next === undefined) return;
    take(next.tenantId);
    next.settle(true);
  };
  return async (tenantId, work, signal) => {
    if (signal.aborted) return "later";
    if (mayBegin(tenantId)) take(tenantId);
    else if (!(await queue.wait(tenantId, signal))) return "later";
    try {
      return await work();
    } finally {
      leave(tenantId);
    }
  };
};

/** `settle`: true gives it its place, false says that it gets none. */
type Waiter = { tenantId: string; settle: (hasPlace: boolean) => void };

const waitingWork = (most: number) => {
  const waiting = new Map<string, Waiter[]>(); // whose turn is next first; each tenant's in the order in which it came
  let size = 0;

  const remove = (waiter: Waiter): void => {
    const others = waiting.get(waiter.tenantId) ?? [];
    const at = others.indexOf(waiter);
    if (at < 0) return;
    others.splice(at, 1);
    size--;
    if (others.length === 0) waiting.delete(waiter.tenantId);
  };
  const giveUp = (waiter: Waiter | undefined): void => {
    if (waiter === undefined) return;
    remove(waiter);
    waiter.settle(false);
  };
  const lastOfLongest = (): Waiter | undefined =>
    [...waiting.values()].reduce((longest, list) => (list.length > longest.length ? list : longest), []).at(-1);
  return {
    /** True once it has its place, false when it gets none. */
    wait: (tenantId: string, signal: AbortSignal): Promise<boolean> => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const waiter: Waiter = { tenantId, settle: resolve };
      const late = (): void => giveUp(waiter);
      signal.addEventListener("abort", late, { once: true });
      waiting.set(tenantId, [...(waiting.get(tenantId) ?? []), waiter]);
      size++;
      if (size > most) giveUp(lastOfLongest());
      return promise.finally(() => signal.removeEventListener("abort", late));
    },
    /** The first of the next tenant that may begin, whose further ones have their turn last. */
    next: (mayBegin: (tenantId: string) => boolean): Waiter | undefined => {
      const tenantId = [...waiting.keys()].find(mayBegin);
      if (tenantId === undefined) return undefined;
      const [first, ...others] = waiting.get(tenantId) ?? [];
      waiting.delete(tenantId);
      size--;
      if (others.length > 0) waiting.set(tenantId, others);
      return first;
    },
  };
};
