import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { isSampled, traceFacts } from "../tracing/traceparent.ts";

/** Declares metrics in a registry, each with its help text. */
export const metricsIn = (registry: Registry) => {
  const registers = [registry];
  return {
    counter: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> =>
      new Counter({ name, help, labelNames, registers }),

    /**
     * A counter whose series (at least one) are there from the start, at 0. Prometheus sees no increase in one that is born
     * by what it counts: an alert would miss the first failures of each process.
     */
    counterFromZero: <L extends string>(name: string, help: string, series: readonly Labels<L>[]): Counter<L> => {
      const labelNames = Object.keys(series[0] ?? {}) as L[]; // sound: every label of L is in each of the series
      const counter = new Counter({ name, help, labelNames, registers });
      for (const labels of series) counter.inc(labels, 0);
      return counter;
    },

    gauge: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> =>
      new Gauge({ name, help, labelNames, registers }),

    /** A gauge that `read` sets with each scrape. */
    level: <L extends string = never>(
      name: string,
      help: string,
      read: Read<L>,
      labelNames: readonly L[] = [],
    ): void => {
      const gauge: Gauge<L> = new Gauge({ name, help, labelNames, registers: [], collect: () => read(gauge) });
      registry.registerMetric(gauge);
    },

    /** `buckets` are upper bounds. */
    histogram: <L extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: readonly L[] = [],
    ): Histogram<L> => new Histogram({ name, help, labelNames, buckets, registers }),

    /** The same, of which each bucket names the sampled trace of its latest observation: an exemplar. */
    tracedHistogram: <L extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: readonly L[] = [],
    ): TracedHistogram<L> =>
      traced(registry, new Histogram({ name, help, labelNames, buckets, registers: [], enableExemplars: true })),
  };
};

export type TracedHistogram<L extends string> = {
  /** Makes the series of these labels, at 0, before the first observation; a second time it changes nothing. */
  zero: (labels: Labels<L>) => void;
  /** `traceparent` is what was observed of; it leaves an exemplar when it is sampled. */
  observe: (labels: Labels<L>, value: number, traceparent?: string | null) => void;
};

const traced = <L extends string>(registry: Registry, histogram: Histogram<L>): TracedHistogram<L> => {
  const zeroed = new Set<string>();
  registry.registerMetric(histogram); // its own way refuses a registry that can be read as text, too
  return {
    zero: (labels) => {
      const name = JSON.stringify(labels);
      if (!zeroed.has(name)) histogram.zero(labels);
      zeroed.add(name);
    },
    observe: (labels, value, traceparent) => {
      if (!isSampled(traceparent)) return histogram.observe({ labels, value });
      const exemplarLabels = traceFacts(traceparent) as Partial<Record<L, string>>; // sound: any names may stand there
      histogram.observe({ labels, value, exemplarLabels });
    },
  };
};

type Labels<L extends string> = Readonly<Record<L, string>>;
type Read<L extends string> = (into: Gauge<L>) => void | Promise<void>;

/** Labels in every combination of their values. */
export const combinations = <L extends string>(values: Readonly<Record<L, readonly string[]>>): Record<L, string>[] =>
  Object.entries<readonly string[]>(values).reduce<Record<string, string>[]>(
    (combined, [label, each]) => combined.flatMap((labels) => each.map((value) => ({ ...labels, [label]: value }))),
    [{}],
  );
