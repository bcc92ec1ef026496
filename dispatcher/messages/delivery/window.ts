import { semaphore } from "#core/runtime/batching/bounded.ts";

export type Window = ReturnType<typeof unsavedWindow>;

/** Whose a slot is. `atOnce`: how many its account may have, when that is fewer than any may. */
export type SlotOf = { tenantId: string; account: string; atOnce?: number | undefined };

/**
 * The slots of recipients that are handed to a provider and not yet stored: at most `limit` over the whole process
 * (docs/decisions/0002); at most nine tenths of them for one provider account, fewer for one that takes no more at once;
 * and at most nineteen twentieths for one tenant. So providers that hang, be they all of a tenant's, leave room for others.
 */
export const unsavedWindow = (limit: number) => {
  const all = semaphore(limit);
  const mostOfAccount = Math.max(1, Math.ceil(limit * 0.9));
  const mostOfTenant = Math.max(mostOfAccount, Math.floor(limit * 0.95));
  const [ofAccounts, ofTenants] = [gates(), gates()];
  let taken = 0;
  return {
    /** Recipients that have a slot now. */
    taken: (): number => taken,
    /** Runs the sending and storing of one recipient when there is a slot for it. */
    slot: async ({ tenantId, account, atOnce = mostOfAccount }: SlotOf, run: () => Promise<void>): Promise<void> => {
      const ofAccount = ofAccounts.use(account, Math.min(atOnce, mostOfAccount));
      const ofTenant = ofTenants.use(tenantId, mostOfTenant);
      for (const gate of [ofAccount, ofTenant, all]) if (!gate.tryAcquire()) await gate.acquire(); // a free one costs no promise
      taken++;
      try {
        await run();
      } finally {
        taken--;
        for (const gate of [all, ofTenant, ofAccount]) gate.release();
        ofAccounts.leave(account);
        ofTenants.leave(tenantId);
      }
    },
  };
};

/** A gate for each key in use, which lets `most` through at once. */
const gates = () => {
  const known = new Map<string, { users: number; gate: ReturnType<typeof semaphore> }>();
  return {
    use: (key: string, most: number): ReturnType<typeof semaphore> => {
      const one = known.get(key) ?? { users: 0, gate: semaphore(most) };
      known.set(key, one);
      one.users++;
      return one.gate;
    },
    /** To be called once for each use. */
    leave: (key: string): void => {
      const one = known.get(key);
      if (one !== undefined && --one.users === 0) known.delete(key);
    },
  };
};
