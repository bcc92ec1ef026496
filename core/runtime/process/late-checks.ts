import type { Check } from "./health-server.ts";
import type { Part } from "./lifecycle.ts";

/** A check that fails while nothing can be asked: until `is` has said what to ask, and again after `is(null)`. */
export const lateCheck = (): { check: Check; is: (known: Check | null) => void } => {
  let known: Check | null = null;
  return {
    is: (check) => void (known = check),
    check: async (signal) => {
      if (known === null) throw new Error("it is not there yet");
      return known(signal);
    },
  };
};

/**
 * A check that passes while all of a program works: from when its parts have started until they begin to stop. `part` has
 * to be the last of them.
 */
export const startedCheck = (): { check: Check; part: Part } => {
  const { check, is } = lateCheck();
  const part: Part = {
    name: "readiness",
    start: async () => is(async () => undefined),
    stop: async () => is(null),
  };
  return { check, part };
};
