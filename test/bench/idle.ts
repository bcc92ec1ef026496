import type { ProgramName } from "../../dev/processes/programs.ts";
import { cpuUs, rssMiB } from "../../dev/processes/usage.ts";
import type { System } from "../support/system/system.ts";

const programs = ["operator", "apiserver", "dispatcher"] as const satisfies readonly ProgramName[];

/** What a program needs: CPU until it is ready, and memory when it has nothing to do. */
export type Idle = { program: ProgramName; startUs: number; rssMiB: number };

/**
 * Each program that has nothing to do. Its second start is measured, which has the compile cache of the first; its memory is
 * read `settleMs` later: start-up garbage is collected or not, as it would be. `start`: as of an installation's `startOwn`.
 * `kubeconfig` is of a cluster that knows Herald's kinds: without them an operator is never ready.
 */
export const idle = async (start: System["start"], kubeconfig: string, settleMs: number): Promise<Idle[]> => {
  const env = { KUBECONFIG: kubeconfig, HERALD_OPERATOR_LEASE: "idle", HERALD_OPERATOR_SELECTOR: "bench=idle" };
  const measured: Idle[] = [];
  for (const program of programs) {
    const running = await start(program, env);
    await running.stop();
    await running.restart();
    const startUs = cpuUs(running.pid());
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    measured.push({ program, startUs, rssMiB: rssMiB(running.pid()) });
    await running.stop();
  }
  return measured;
};
