/** The only source of time below main.ts; tests pass their own. */
export type Clock = { now: () => Date };

export const systemClock: Clock = { now: () => new Date() };

/** An instant as the REST interface writes it. */
export const timeOf = (at: Date | null | undefined): string | null => at?.toISOString() ?? null;
