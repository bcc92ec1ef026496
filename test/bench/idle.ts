import type { ProgramName } from "../../dev/programs.ts";
import type { System } from "../support/system.ts";
import { rssMiB } from "./process-usage.ts";

const programs = ["operator", "apiserver", "dispatcher"] as const satisfies readonly ProgramName[];
const settleMs = 10_000; // a program at rest: start-up garbage is collected or not, as it would be

/** Memory of each program that has nothing to do, MiB. */
export const idle = async (system: System, kubeconfig: string): Promise<Record<ProgramName, number>> => {
  const started = await Promise.all(
    programs.map(async (program) => [program, await system.start(program, { KUBECONFIG: kubeconfig })] as const),
  );
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const measured = started.map(([program, running]) => [program, rssMiB(running.pid())]);
  await Promise.all(started.map(([, running]) => running.stop()));
  return Object.fromEntries(measured) as Record<ProgramName, number>; // every program was started
};
