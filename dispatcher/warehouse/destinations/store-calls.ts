import { hostOf } from "#core/runtime/http/address-guard.ts";
import { DestinationError } from "./destination.ts";
import type { GuardedAgents, GuardedDeps } from "./guarded-agents.ts";

/** A request with its repeats: a part has 100 MB at most. */
const usualMs = 120_000;

/**
 * Makes calls to the store at a url, which is judged before each: bounded in time, and with `fault` for all that is thrown but the
 * reason of a signal that has aborted.
 */
export const storeCalls = (
  { guard, mostMs = usualMs }: GuardedDeps,
  url: URL,
  agents: GuardedAgents,
  fault: (error: unknown) => DestinationError,
) => {
  const requireAllowed = (): void => {
    const problem = guard.problemOf(url);
    if (problem !== null) throw new DestinationError("PERMISSION", problem);
  };
  return {
    ask: async <T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> => {
      const late = AbortSignal.any([signal, AbortSignal.timeout(mostMs)]);
      try {
        requireAllowed();
        return await call(late);
      } catch (error) {
        signal.throwIfAborted();
        throw fault(error);
      }
    },
    resolve: async (signal: AbortSignal): Promise<void> => {
      requireAllowed();
      await agents.judge(hostOf(url), signal);
    },
  };
};

export type StoreCalls = ReturnType<typeof storeCalls>;
