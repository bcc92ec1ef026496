import type { ImportedPeople } from "#core/storage/imports/people.ts";
import type { OptOuts } from "#core/storage/suppressions/opt-outs.ts";
import type { BatchResult, BatchRow, ImportBatch } from "./import-batch.ts";
import { type Known, knownOf } from "./known.ts";
import { type Plan, planBatch } from "./plan.ts";

export type BatchDeps = { people: ImportedPeople; keepOptOuts: OptOuts["keep"] };

const attempts = 5; // each lost to another writer of the same people

/**
 * Writes the users and subscriptions of at most 1,000 rows in a handful of commands. It may run twice. `known`: what was read
 * ahead of it; it may be old.
 */
export const importBatch =
  ({ people, keepOptOuts }: BatchDeps) =>
  async (batch: ImportBatch, rows: readonly BatchRow[], known: Promise<Known> | null = null): Promise<BatchResult> => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const found = await ((attempt === 0 && known) || knownOf(people, batch.of, rows));
      const plan = planBatch(batch, found, rows);
      if (!(await isWritten(people, plan))) continue;
      await keepOptOuts(batch.of, "import", plan.optedOut);
      return plan.result;
    }
    throw new Error("others kept changing the users of a batch");
  };

/** Users first: a kill leaves no subscription without its user. */
const isWritten = async (people: ImportedPeople, plan: Plan): Promise<boolean> => {
  const users = await Promise.all([people.addUsers(plan.users.made), people.changeUsers(plan.users.changed)]);
  if (users.includes(false)) return false;
  const { made, changed } = plan.subscriptions;
  const owned = await Promise.all([people.addSubscriptions(made), people.changeSubscriptions(changed)]);
  return !owned.includes(false);
};
