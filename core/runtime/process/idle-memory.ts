const lookMs = 3_000;
/** Of one processor, what an idle program uses at most: up to 0.065 was measured, and 0.1 with 50 events a second. */
const mostWorked = 0.07;

/**
 * Has memory given back once, when the program has been idle for three seconds. A start fills the young generation, 33 MB,
 * which V8 keeps: an idle program would have it for good. A program with work would fill it again, and what comes during the
 * collection waits for 50 to 170 ms. Source: docs/decisions/0233. `worked`: CPU of the process since its last call, as a
 * part of the time; to wait for a processor is no work.
 */
export const giveBackMemoryWhenIdle = ({ giveBack = collect, worked = workedSince(), everyMs = lookMs } = {}): void => {
  const timer = setInterval(() => {
    if (worked() > mostWorked) return;
    clearInterval(timer);
    giveBack();
  }, everyMs).unref();
};

const collect = (): void => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });

const workedSince = (): (() => number) => {
  let [cpuUs, atMs] = [cpuNowUs(), performance.now()];
  return () => {
    const [spentUs, tookMs] = [cpuNowUs() - cpuUs, performance.now() - atMs];
    [cpuUs, atMs] = [cpuUs + spentUs, atMs + tookMs];
    return spentUs / 1_000 / tookMs;
  };
};

const cpuNowUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
