import type { Part } from "#core/runtime/lifecycle.ts";

export type LanesDeps = {
  /** Names of the plans that exist. */
  plans: () => Promise<string[]>;
  /** The workers that serve one plan's stream. */
  open: (plan: string) => Part[];
  /** Calls back when configuration changed; the ids are the documents' own. */
  onChange: (listen: (collection: string) => void) => void;
  /** Plans are read again this often, in case an announcement was lost. */
  everyMs: number;
  onError: (error: unknown) => void;
};

/** Keeps workers running for the stream of every plan, also of one that is made while the program runs. */
export const lanes = (deps: LanesDeps): Part => {
  const open = new Map<string, Part[]>();
  const stop = new AbortController();
  let reading: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const read = async (signal: AbortSignal): Promise<void> => {
    const names = await deps.plans();
    for (const name of names) {
      if (open.has(name) || stop.signal.aborted) continue;
      const parts = deps.open(name);
      open.set(name, parts);
      for (const part of parts) await part.start(signal);
    }
    for (const [name, parts] of open) {
      if (names.includes(name)) continue;
      open.delete(name);
      await stopAll(parts, signal);
    }
  };

  const readAgain = (): void => {
    reading = reading.then(() => (stop.signal.aborted ? undefined : read(stop.signal))).catch(deps.onError);
  };

  return {
    name: "lanes",
    start: async (signal) => {
      await read(signal);
      deps.onChange((collection) => {
        if (collection === "plans" || collection === "*") readAgain();
      });
      timer = setInterval(readAgain, deps.everyMs);
    },
    stop: async (signal) => {
      clearInterval(timer);
      stop.abort();
      await reading;
      await Promise.all([...open.values()].map((parts) => stopAll(parts, signal)));
    },
  };
};

const stopAll = async (parts: readonly Part[], signal: AbortSignal): Promise<void> => {
  await Promise.all(parts.map((part) => part.stop(signal)));
};
