import type { SystemProgram } from "../support/system/system.ts";

/** Commands that programs had answered by MongoDB, by program. */
export type Statements = Record<string, number>;

/** Reads what each program counts of its own commands. @throws when one counts nothing */
export const statementsSoFar = async (programs: Record<string, readonly SystemProgram[]>): Promise<Statements> => {
  const counts = Object.entries(programs).map(async ([name, running]) => {
    const each = await Promise.all(running.map(commandsOf));
    return [name, allOf(each)] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
};

const commandsOf = async ({ healthUrl }: SystemProgram): Promise<number> => {
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();
  const [, count] =
    /^herald_store_call_duration_seconds_count\{[^}]*store="mongodb"[^}]*\} (\d+)$/m.exec(metrics) ?? [];
  if (count === undefined) throw new Error(`${healthUrl} does not say how many commands MongoDB answered`);
  return Number(count);
};

/** What was sent since `before` for each of `count` things. */
export const statementsOfEach = (before: Statements, now: Statements, count: number): Statements =>
  Object.fromEntries(Object.entries(now).map(([name, sent]) => [name, (sent - (before[name] ?? 0)) / count]));

export const allOf = (counts: Statements | readonly number[]): number =>
  Object.values(counts).reduce((sum, one) => sum + one, 0);

/** How many for a thousand things, by program, for a person to read. */
export const ofThousand = (statements: Statements): string =>
  Object.entries(statements)
    .map(([name, each]) => `${name} ${(1_000 * each).toFixed(1)}`)
    .join(", ");
