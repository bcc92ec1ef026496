export type Check = (signal: AbortSignal) => Promise<unknown>;

const checkMs = 1_000;

/** Asks everything at once, each for at most a second. Only what nothing works without decides. */
export const readiness =
  ({ required, optional }: { required: Record<string, Check>; optional: Record<string, Check> }) =>
  async (signal: AbortSignal): Promise<{ isReady: boolean; checks: Record<string, string> }> => {
    const [needed, useful] = await Promise.all([outcomes(required, signal), outcomes(optional, signal)]);
    return {
      isReady: needed.every(([, outcome]) => outcome === "ok"),
      checks: Object.fromEntries([...needed, ...useful]),
    };
  };

const outcomes = (checks: Record<string, Check>, signal: AbortSignal): Promise<[string, string][]> =>
  Promise.all(
    Object.entries(checks).map(
      async ([name, check]): Promise<[string, string]> => [name, await outcome(check, signal)],
    ),
  );

const outcome = async (check: Check, gone: AbortSignal): Promise<"ok" | "away"> => {
  const signal = AbortSignal.any([gone, AbortSignal.timeout(checkMs)]);
  const { promise: late, resolve } = Promise.withResolvers<"away">();
  signal.addEventListener("abort", () => resolve("away"), { once: true });
  const checked = Promise.resolve(check(signal)).then(
    () => "ok" as const,
    () => "away" as const,
  );
  return Promise.race([checked, late]);
};
