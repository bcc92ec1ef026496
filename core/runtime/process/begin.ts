import { heedSignals } from "./early-signals.ts";
import { nameSourceLines } from "./source-lines.ts";

/** What each program's `main.ts` does, with its own address, before it loads anything large. */
export const begin = (moduleUrl: string): void => {
  heedSignals();
  nameSourceLines(moduleUrl);
};
