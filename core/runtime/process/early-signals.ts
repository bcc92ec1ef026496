/** The signals that stop a program. */
export const stopSignals = ["SIGTERM", "SIGINT"] as const;

/**
 * Has SIGTERM and SIGINT end a program while its modules are being loaded, which takes a second on a cold disk: nothing
 * has begun by then, so it ends at once, with 0. Process 1 of a container ignores a signal that it has no handler for,
 * and works on until it is killed. This file imports nothing.
 */
export const heedSignals = (): void => {
  for (const signal of stopSignals) process.on(signal, endAtOnce);
};

/** Ends what `heedSignals` began: the program stops in order from here on. */
export const leaveSignals = (): void => {
  for (const signal of stopSignals) process.off(signal, endAtOnce);
};

const endAtOnce = (): void => process.exit(0);
