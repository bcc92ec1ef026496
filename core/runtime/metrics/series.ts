import { Counter, type Registry } from "prom-client";

type Counted<L extends string> = {
  name: string;
  help: string;
  registry: Registry;
  /** Labels of what may be counted, as far as that is known beforehand: at least one. */
  series: readonly Readonly<Record<L, string>>[];
};

/**
 * A counter whose series are there from the start, at 0. Prometheus sees no increase in one that is born by what it counts:
 * an alert would miss the first failures of each process.
 */
export const counterFromZero = <L extends string>({ name, help, registry, series }: Counted<L>): Counter<L> => {
  const labelNames = Object.keys(series[0] ?? {}) as L[]; // sound: every label of L is in each of the series
  const counter = new Counter({ name, help, labelNames, registers: [registry] });
  for (const labels of series) counter.inc(labels, 0);
  return counter;
};

/** Labels in every combination of their values. */
export const combinations = <L extends string>(values: Readonly<Record<L, readonly string[]>>): Record<L, string>[] =>
  Object.entries<readonly string[]>(values).reduce<Record<string, string>[]>(
    (combined, [label, each]) => combined.flatMap((labels) => each.map((value) => ({ ...labels, [label]: value }))),
    [{}],
  );
