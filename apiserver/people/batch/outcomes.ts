import { AppError, errorStatuses } from "#core/errors.ts";
import type { UpsertedUser } from "#core/schema/people/batch.ts";

type Upserted = Pick<UpsertedUser, "id" | "created">;

export type Outcomes = ReturnType<typeof outcomesOf>;

/** Collects what became of each item of a batch. A refusal is its item's; any other error is thrown, and that of all. */
export const outcomesOf = (count: number) => {
  const outcomes = new Map<number, Upserted | AppError>();
  const refuse = (index: number, error: unknown): void => {
    if (!(error instanceof AppError) || errorStatuses[error.code] >= 500) throw error;
    outcomes.set(index, error);
  };
  return {
    done: (index: number, upserted: Upserted): void => void outcomes.set(index, upserted),

    /** What `make` gives, in a list; an empty one when it refuses the item. */
    valueOf: <T>(index: number, make: () => T): T[] => {
      try {
        return [make()];
      } catch (error) {
        refuse(index, error);
        return [];
      }
    },

    /** The same of what takes time. */
    valueWhen: async <T>(index: number, make: () => Promise<T>): Promise<T[]> => {
      try {
        return [await make()];
      } catch (error) {
        refuse(index, error);
        return [];
      }
    },

    settle: async (index: number, write: () => Promise<Upserted>): Promise<void> => {
      try {
        outcomes.set(index, await write());
      } catch (error) {
        refuse(index, error);
      }
    },

    all: (): UpsertedUser[] =>
      Array.from({ length: count }, (_, index) => {
        const outcome = outcomes.get(index);
        if (outcome === undefined) throw new Error(`nothing became of item ${index}`);
        if (!(outcome instanceof AppError)) return { index, ...outcome, error: null };
        const { code, message, details } = outcome;
        return { index, id: null, created: false, error: { code, message, details } };
      }),
  };
};
