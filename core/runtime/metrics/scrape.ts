import type { Registry } from "prom-client";

/** What is scraped: a body and its content type. */
export type Scrape = { type: string; body: string };

/**
 * Everything that a registry has, in the format that `accept` asks for: OpenMetrics 1.0, which alone has exemplars, or
 * Prometheus's text format. Our own writer of the former, as prom-client's takes `_total` off the counters' names for good,
 * so that the next scrape as text has other names.
 */
export const scrape = async (registry: Registry, accept = ""): Promise<Scrape> =>
  accept.includes(openMetricsType)
    ? { type: `${openMetricsType}; version=1.0.0; charset=utf-8`, body: await openMetrics(registry) }
    : { type: registry.contentType, body: await registry.metrics() };

const openMetricsType = "application/openmetrics-text";

/** Source: OpenMetrics 1.0, "ABNF" and "Counter": the family of a counter is named without `_total`. */
const openMetrics = async (registry: Registry): Promise<string> => {
  const families = (await registry.getMetricsAsJSON()) as unknown as Family[]; // its type leaves out metricName and exemplar
  return `${families.map(written).join("")}# EOF\n`;
};

type Family = { name: string; help: string; type: string; values: Sample[] };
type Sample = {
  metricName?: string;
  labels: Record<string, string | number>;
  value: number;
  exemplar?: Exemplar | null;
};
type Exemplar = { labelSet: Record<string, string>; value: number; timestamp: number };

const written = ({ name, help, type, values }: Family): string => {
  const family = type === "counter" ? name.replace(/_total$/, "") : name;
  const lines = values.map(
    ({ metricName = name, labels, value, exemplar }) =>
      `${metricName}${labelsOf(labels)} ${numberOf(value)}${exemplar ? exemplarOf(exemplar) : ""}\n`,
  );
  return `# TYPE ${family} ${type}\n# HELP ${family} ${escaped(help)}\n${lines.join("")}`;
};

const labelsOf = (labels: Record<string, string | number>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${textOf(name, value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

/** Bounds of buckets are numbers and written as such: `1.0`, not `1`. Source: OpenMetrics 1.0, "Canonical numbers". */
const textOf = (name: string, value: string | number): string =>
  name === "le" && typeof value === "number" ? canonical(value) : escaped(String(value)).replaceAll('"', '\\"');

const canonical = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));

const exemplarOf = ({ labelSet, value, timestamp }: Exemplar): string =>
  ` # ${labelsOf(labelSet)} ${numberOf(value)} ${timestamp}`;

const numberOf = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
