import type { Part } from "#core/runtime/process/lifecycle.ts";

export type PlanWorkersDeps = {
  /** Names of the plans that exist. */
  plans: () => Promise<string[]>;
  /** The workers that serve one plan's stream. */
  open: (plan: string) => Part[];
  /** The listener is called with the name of a collection whose configuration changed. */
  onChange: (listen: (collection: string) => void) => void;
  /** Plans are read again this often, in case an announcement was lost. */
  everyMs: number;
  /** Workers that did not start are tried again after so long; 5 s when left out. */
  retryMs?: number;
  onError: (error: unknown) => void;
};

/** Runs workers for the stream of every plan, also of plans that are made while the program runs. */
export const planWorkers = ({ plans, open, onChange, everyMs, retryMs = 5_000, onError }: PlanWorkersDeps): Part => {
  const opened = new Map<string, Part[]>();
  /** Workers that take no new work and finish what they have; only the stop of the program waits for them. */
  const closing = new Set<Promise<void>>();
  const stop = new AbortController();
  const graceIsOver = new AbortController();
  let reading: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;

  const begin = async (name: string, signal: AbortSignal): Promise<void> => {
    const parts = open(name);
    opened.set(name, parts);
    try {
      for (const part of parts) await part.start(signal);
    } catch (error) {
      end(name, parts);
      onError(error);
      retry ??= setTimeout(readAgain, retryMs);
    }
  };
  const end = (name: string, parts: readonly Part[]): void => {
    opened.delete(name);
    const ending = stopAll(parts, graceIsOver.signal)
      .catch(onError)
      .finally(() => closing.delete(ending));
    closing.add(ending);
  };
  const read = async (signal: AbortSignal): Promise<void> => {
    const names = await plans();
    for (const [name, parts] of opened) if (!names.includes(name)) end(name, parts);
    for (const name of names) if (!opened.has(name) && !stop.signal.aborted) await begin(name, signal);
  };
  const readAgain = (): void => {
    retry = undefined;
    reading = reading.then(() => (stop.signal.aborted ? undefined : read(stop.signal))).catch(onError);
  };

  return {
    name: "plan workers",
    start: async (signal) => {
      await read(signal);
      onChange((collection) => {
        if (collection === "plans" || collection === "*") readAgain();
      });
      timer = setInterval(readAgain, everyMs);
    },
    stop: async (signal) => {
      clearInterval(timer);
      clearTimeout(retry);
      stop.abort();
      signal.addEventListener("abort", () => graceIsOver.abort(), { once: true });
      if (signal.aborted) graceIsOver.abort();
      await reading;
      for (const [name, parts] of opened) end(name, parts);
      await Promise.all(closing);
    },
  };
};

const stopAll = async (parts: readonly Part[], signal: AbortSignal): Promise<void> => {
  await Promise.all(parts.map((part) => part.stop(signal)));
};
