import { semaphore } from "#core/runtime/batching/bounded.ts";

export type Window = ReturnType<typeof unsavedWindow>;

/**
 * The slots of recipients that are handed to a provider and not yet stored: at most `limit` over the whole process
 * (docs/decisions/0002), and at most nine tenths of them for one provider account, so that an account whose provider hangs
 * leaves room for others; fewer for one that takes no more at once.
 */
export const unsavedWindow = (limit: number) => {
  const all = semaphore(limit);
  const shareLimit = Math.max(1, Math.ceil(limit * 0.9));
  const shares = new Map<string, { users: number; gate: ReturnType<typeof semaphore> }>(); // accounts in use only
  let taken = 0;

  const counted = (run: () => Promise<void>) => async (): Promise<void> => {
    taken++;
    try {
      await run();
    } finally {
      taken--;
    }
  };

  return {
    /** Recipients that have a slot now. */
    taken: (): number => taken,
    /** Runs the sending and storing of one recipient when there is a slot for it; its account has `atOnce` at most. */
    slot: async (account: string, run: () => Promise<void>, atOnce = shareLimit): Promise<void> => {
      const share = shares.get(account) ?? { users: 0, gate: semaphore(Math.min(atOnce, shareLimit)) };
      shares.set(account, share);
      share.users++;
      try {
        await share.gate.run(() => all.run(counted(run)));
      } finally {
        share.users--;
        if (share.users === 0) shares.delete(account);
      }
    },
  };
};
