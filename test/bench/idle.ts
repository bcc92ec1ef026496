import type { ProgramName } from "../../dev/processes/programs.ts";
import type { System } from "../support/system/system.ts";
import { rssMiB } from "./process-usage.ts";

const programs = ["operator", "apiserver", "dispatcher"] as const satisfies readonly ProgramName[];

/**
 * Memory of each program that has nothing to do, MiB, `settleMs` after its start: start-up garbage is collected or not, as
 * it would be. `kubeconfig` is of a cluster that knows Herald's kinds: without them an operator is never ready.
 */
export const idle = async (
  system: System,
  kubeconfig: string,
  settleMs: number,
): Promise<Record<ProgramName, number>> => {
  const env = { KUBECONFIG: kubeconfig, HERALD_OPERATOR_LEASE: "idle", HERALD_OPERATOR_SELECTOR: "bench=idle" };
  const started = await Promise.all(programs.map(async (name) => [name, await system.start(name, env)] as const));
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  return Object.fromEntries(started.map(([name, running]) => [name, rssMiB(running.pid())])) as Record<
    ProgramName,
    number
  >; // every program was started
};
