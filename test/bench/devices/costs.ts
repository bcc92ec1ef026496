import type { SystemProgram } from "../../support/system/system.ts";
import { cpuMeter, cpuOfEach, splitOf } from "../cpu.ts";
import type { Stores } from "../servers.ts";
import { ofThousand, statementsOfEach, statementsSoFar } from "../statements.ts";

/** What each of some requests costs: CPU by program and store, and commands to MongoDB, for a person to read. */
export const costsOf =
  (stores: Stores, programs: Record<string, readonly SystemProgram[]>) =>
  async <T>(count: number, work: () => Promise<T>): Promise<{ result: T; costs: string }> => {
    const cpuUs = cpuMeter(stores, programs);
    const [cpuBefore, statementsBefore] = [cpuUs(), await statementsSoFar(programs)];
    const result = await work();
    const cpu = splitOf(cpuOfEach(cpuBefore, cpuUs(), count));
    const statements = ofThousand(statementsOfEach(statementsBefore, await statementsSoFar(programs), count));
    return { result, costs: `CPU of each, µs: ${cpu}; commands for 1,000: ${statements}` };
  };
