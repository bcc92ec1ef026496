import type { Clock } from "#core/domain/clock.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Changes } from "#core/storage/directory.ts";
import type { Suspension } from "#core/storage/suspension.ts";
import { tenantCollection } from "#core/storage/tenants/tenants.ts";

/** Which tenants may not send now; answered from memory. */
export type Suspensions = {
  has: (tenantId: string) => boolean;
  /** Runs work whose signal aborts when the tenant is suspended meanwhile. */
  during: <T>(tenantId: string, work: (suspended: AbortSignal) => Promise<T>) => Promise<T>;
  /** Gives a document back until the tenant may send again. A suspension that ended meanwhile releases it at once. */
  defer: <T>(tenantId: string, giveBack: (dueAt: Date) => Promise<T>) => Promise<T>;
  /** The listener is called when a tenant may send again. */
  onResume: (listener: (tenantId: string) => void) => void;
};

export type SuspensionsDeps = {
  suspension: Suspension;
  changes: Changes;
  onError: (error: unknown) => void;
  clock: Clock;
};

const readEveryMs = 10_000; // in case an announcement was lost
/** A deferred document is looked at after so long, should the process that was to release it have been killed. */
const deferredMs = 60_000;

/** Follows the suspensions of tenants: an announced change takes effect as soon as it has been read. */
export const suspensions = ({ suspension, changes, onError, clock }: SuspensionsDeps): Part & Suspensions => {
  const running = new Map<string, Set<AbortController>>();
  const listeners: ((tenantId: string) => void)[] = [];
  let known: ReadonlySet<string> = new Set();
  let timer: NodeJS.Timeout | undefined;

  const release = (tenantId: string): Promise<void> => suspension.release(tenantId, clock.now());
  const read = async (): Promise<void> => {
    const before = known;
    known = new Set(await suspension.suspendedIds());
    for (const id of known) for (const work of running.get(id) ?? []) work.abort(suspended());
    for (const id of before) {
      if (known.has(id)) continue;
      for (const listener of listeners) listener(id);
      await release(id);
    }
  };
  const again = coalesced(() => read().catch(onError));
  changes.on((collection) => {
    if (collection === tenantCollection.name || collection === "*") again();
  });

  return {
    name: "suspensions",
    start: async () => {
      await read();
      timer = setInterval(again, readEveryMs);
    },
    stop: async () => clearInterval(timer),
    has: (tenantId) => known.has(tenantId),
    onResume: (listener) => void listeners.push(listener),
    defer: async (tenantId, giveBack) => {
      const given = await giveBack(new Date(clock.now().getTime() + deferredMs));
      if (!known.has(tenantId)) await release(tenantId);
      return given;
    },
    during: async (tenantId, work) => {
      const halt = new AbortController();
      if (known.has(tenantId)) halt.abort(suspended());
      const all = running.get(tenantId) ?? new Set();
      running.set(tenantId, all.add(halt));
      try {
        return await work(halt.signal);
      } finally {
        all.delete(halt);
        if (all.size === 0) running.delete(tenantId);
      }
    },
  };
};

const suspended = (): Error => new Error("the tenant is suspended");

/** Runs `work`, and once more when it was asked for meanwhile, however often. */
const coalesced = (work: () => Promise<void>): (() => void) => {
  let isRunning = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await work();
    }
    isRunning = false;
  };
  return () => {
    isWanted = true;
    if (!isRunning) void run();
  };
};
