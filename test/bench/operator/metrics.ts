/** What an operator's `/metrics` said at one moment, summed over its kinds. */
export type Measured = {
  isLeader: boolean;
  /** Passes that went through. */
  passes: number;
  failures: number;
  /** Resources that wait or are being worked on. */
  unfinished: number;
  /** Used so far, by the operator itself. */
  cpuSeconds: number;
  /** Requests to the API server by method. */
  requests: Record<string, number>;
};

/** Reads an operator's metrics; what is not there yet counts as nothing. */
export const readMetrics = async (url: string): Promise<Measured> => {
  const samples = parse(await textOf(url));
  const sum = (name: string, has: (labels: string) => boolean = () => true): number =>
    samples
      .filter((sample) => sample.name === name && has(sample.labels))
      .reduce((total, { value }) => total + value, 0);
  const reconciles = (result: string) =>
    sum("controller_runtime_reconcile_total", (labels) => labels.includes(`result="${result}"`));
  return {
    isLeader: sum("leader_election_master_status") === 1,
    passes: reconciles("success") + reconciles("requeue_after"),
    failures: reconciles("error"),
    unfinished: sum("workqueue_depth") + sum("controller_runtime_active_workers"),
    cpuSeconds: sum("process_cpu_seconds_total"),
    requests: byMethod(samples.filter(({ name }) => name === "rest_client_requests_total")),
  };
};

const textOf = async (url: string): Promise<string> => {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
  } catch {
    return ""; // it does not listen yet
  }
};

type Sample = { name: string; labels: string; value: number };

/** The lines of Prometheus' text format that hold a sample; none of ours has a time. */
const parse = (text: string): Sample[] =>
  [...text.matchAll(/^(\w+)(\{.*\})? (\S+)$/gm)].map(([, name = "", labels = "", value]) => ({
    name,
    labels,
    value: Number(value),
  }));

const byMethod = (samples: readonly Sample[]): Record<string, number> => {
  const methods = Map.groupBy(samples, ({ labels }) => /method="(\w+)"/.exec(labels)?.[1] ?? "?");
  return Object.fromEntries(
    [...methods].map(([method, of]) => [method, of.reduce((sum, { value }) => sum + value, 0)]),
  );
};
