import { hash } from "node:crypto";
import type { Clock } from "#core/domain/clock.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import type { Handler, Verdict } from "./handler.ts";

export type UnchangedDeps<R extends Resource> = {
  /** All that decides a pass besides the resource and the time: documents, and the versions of Secrets. */
  inputsOf: (resource: R) => Promise<readonly unknown[]>;
  clock: Clock;
};

/**
 * Spares a handler the passes whose inputs are those of its last pass over the same object, when that one found
 * everything as wanted (docs/decisions/0052). The inputs are read before the handler reads them: what changes in
 * between makes the next pass a whole one.
 */
export const unlessUnchanged = <R extends Resource>(
  handler: Handler<R>,
  { inputsOf, clock }: UnchangedDeps<R>,
): Handler<R> => {
  const last = new WeakMap<R, Settled>(); // with any change in the API server the store gets another object
  return {
    ...handler,
    reconcile: async (resource, signal) => {
      const inputs = digest(await inputsOf(resource));
      const nowMs = clock.now().getTime();
      const before = last.get(resource);
      if (before?.inputs === inputs && nowMs < before.untilMs) return again(before, nowMs);
      const verdict = await handler.reconcile(resource, signal);
      if (isSettled(verdict))
        last.set(resource, { inputs, verdict, untilMs: nowMs + (verdict.requeueAfterMs ?? Infinity) });
      else last.delete(resource);
      return verdict;
    },
  };
};

/** The last pass, which found everything as wanted; its verdict holds until `untilMs`. */
type Settled = { inputs: string; verdict: Verdict; untilMs: number };

const isSettled = ({ isChanged, ready }: Verdict): boolean => !isChanged && ready.status === "True";

const again = ({ verdict, untilMs }: Settled, nowMs: number): Verdict => ({
  ...verdict,
  ...(verdict.requeueAfterMs !== undefined && { requeueAfterMs: untilMs - nowMs }),
});

/** Only this digest is kept, because the inputs may contain sealed secrets. */
const digest = (inputs: readonly unknown[]): string => hash("sha256", JSON.stringify(inputs), "base64");
