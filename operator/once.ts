import { keyOf, type Resource } from "#core/runtime/kube/objects.ts";
import type { Stores } from "./engine/stores.ts";
import { table } from "./keys/print.ts";
import { pause } from "./kube/watch.ts";
import type { Operator } from "./operator.ts";
import { readyIn } from "./policies/conditions.ts";

export type OnceDeps = {
  engine: Pick<Operator, "isSynced" | "leader" | "isSettled">;
  resources: Pick<Stores, "byKind">;
  timeoutMs: number;
  /** For how long another's Lease is valid without a renewal; who has it after that is alive. */
  leaseMs: number;
  print: (text: string) => void;
};

/** The process's exit codes. `failed` says nothing about the resources. */
const codes = { ready: 0, failed: 1, notReady: 2 } as const;

/**
 * Waits until the operator has decided about every resource, and prints those that are not ready. It takes the Lease as
 * any operator does, so that it never works against one that runs.
 */
export const once =
  ({ engine, resources, timeoutMs, leaseMs, print }: OnceDeps) =>
  async (signal: AbortSignal): Promise<number> => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    await until(engine.isSynced, deadline);
    await until(() => engine.leader().isLeader, AbortSignal.any([deadline, AbortSignal.timeout(leaseMs * 1.5)]));
    if (!engine.leader().isLeader) {
      print(whyNot(engine));
      return codes.failed;
    }
    await until(engine.isSettled, deadline);
    const isSettled = engine.isSettled();
    const { all, notReady } = judged(resources);
    if (notReady.length > 0) print(table([["KIND", "NAME", "READY", "REASON", "MESSAGE"], ...notReady]));
    print(`${all - notReady.length} of ${all} resources are ready`);
    if (!isSettled) print(`not all of them were decided within ${timeoutMs / 1000} s`);
    if (!isSettled) return codes.failed;
    return notReady.length > 0 ? codes.notReady : codes.ready;
  };

const pollMs = 50;

/** Returns when `isSo` or when `signal` aborts. */
const until = async (isSo: () => boolean, signal: AbortSignal): Promise<void> => {
  while (!isSo() && !signal.aborted) await pause(pollMs, signal);
};

const whyNot = ({ isSynced, leader }: OnceDeps["engine"]): string => {
  if (!isSynced()) return "the resources could not be listed in time";
  const { holder } = leader();
  return holder === "" ? "the Lease could not be taken" : `another operator leads: ${holder}; nothing was done`;
};

const judged = ({ byKind }: OnceDeps["resources"]): { all: number; notReady: string[][] } => {
  const found = [...byKind].flatMap(([kind, store]) => [...store.all()].map((resource) => ({ kind, resource })));
  return { all: found.length, notReady: found.flatMap(({ kind, resource }) => rowOf(kind, resource)) };
};

/** The line about a resource that is not ready; none for one that is. */
const rowOf = (kind: string, resource: Resource): string[][] => {
  const ready = readyIn(resource);
  const isCurrent = ready?.observedGeneration === resource.metadata.generation;
  if (ready === undefined || !isCurrent) return [[kind, keyOf(resource), "Unknown", "NotReconciled", ""]];
  return ready.status === "True" ? [] : [[kind, keyOf(resource), ready.status, ready.reason, ready.message]];
};
