/** The only source of time below program.ts; tests pass their own. */
export type Clock = { now: () => Date };

export const systemClock: Clock = { now: () => new Date() };

/** An instant that the REST interface was given, checked by its schema. */
export const dateOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));
