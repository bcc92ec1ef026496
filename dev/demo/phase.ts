import { styleText } from "node:util";

const reportEveryMs = 5_000;

/** Says for a person what a phase waits for at the moment. */
export type Note = (text: string) => void;

/** Runs a part of the demo: says every 5 s what goes on for how long, and at the end what was done in which time. */
export const phase = async <T>(what: string, work: (note: Note) => Promise<T>): Promise<T> => {
  const beganAt = performance.now();
  let doing = "";
  const report = setInterval(() => {
    console.log(`… ${what}, ${seconds(beganAt)} so far${doing && `: ${doing}`}`);
  }, reportEveryMs);
  try {
    const result = await work((text) => {
      doing = text;
    });
    console.log(`${styleText("green", "✓")} ${what.padEnd(64)}${seconds(beganAt).padStart(7)}`);
    return result;
  } catch (cause) {
    throw new Error(`${what}: ${(cause as Error).message}`, { cause });
  } finally {
    clearInterval(report);
  }
};

/** Time since an instant of `performance.now()`, for people. */
export const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
