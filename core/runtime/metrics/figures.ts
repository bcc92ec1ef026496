import type { Registry } from "prom-client";
import { type FigureName, figureNames, windowMs } from "../../domain/status/rules.ts";

/** Counters, of which a figure is the increase: the sum of the first less that of the second. */
type Term = { metric: string; matching?: Readonly<Record<string, string>> };
type Counted = Exclude<FigureName, "dispatchers">;

const requestsMetric = "herald_http_request_duration_seconds";
const ofDevices = { route: "/sdk/.*" };
const lagMetric = "herald_timers_lag_seconds";

/** What each figure is counted by: in a program by its own registry, and by Prometheus over all of them. */
const terms: Record<Counted, readonly [Term, Term?]> = {
  requests: [{ metric: "herald_http_requests_total" }],
  failed_requests: [{ metric: "herald_http_requests_total", matching: { status: "5.." } }],
  slow_requests: [
    { metric: `${requestsMetric}_count` },
    { metric: `${requestsMetric}_bucket`, matching: { le: "1(\\.0)?" } },
  ],
  device_requests: [{ metric: "herald_http_requests_total", matching: ofDevices }],
  failed_device_requests: [{ metric: "herald_http_requests_total", matching: { status: "5..", ...ofDevices } }],
  slow_device_requests: [
    { metric: `${requestsMetric}_count`, matching: ofDevices },
    { metric: `${requestsMetric}_bucket`, matching: { le: "1(\\.0)?", ...ofDevices } },
  ],
  deliveries: [{ metric: "herald_deliveries_total" }],
  put_off_deliveries: [{ metric: "herald_deliveries_total", matching: { outcome: "retry_at|uncertain" } }],
  due_documents: [{ metric: `${lagMetric}_count` }],
  late_documents: [{ metric: `${lagMetric}_count` }, { metric: `${lagMetric}_bucket`, matching: { le: "10(\\.0)?" } }],
};

/** What a program has counted since it was started. */
export type Totals = Record<Counted, number>;

/** Reads the counters of a program; those that it does not have are 0. */
export const totalsIn = async (registry: Registry): Promise<Totals> => {
  const values = await valuesOf(registry);
  const totals = counted.map((name): [Counted, number] => {
    const [of, less] = terms[name];
    return [name, sumOf(values, of) - (less === undefined ? 0 : sumOf(values, less))];
  });
  return Object.fromEntries(totals) as Totals; // sound: each of them is counted
};

/** What asks Prometheus for each figure; `selector` narrows it to one installation, as `namespace="herald"`. */
export const queries = (selector: string): Record<FigureName, string> => {
  const increase = ({ metric, matching = {} }: Term): string => {
    const own = Object.entries(matching).map(([label, text]) => `${label}=~"${text.replaceAll("\\", "\\\\")}"`);
    const labels = [...own, ...(selector === "" ? [] : [selector])].join(",");
    return `(sum(increase(${metric}{${labels}}[${windowMs / 60_000}m])) or vector(0))`;
  };
  const asked = counted.map((name): [FigureName, string] => {
    const [of, less] = terms[name];
    return [name, less === undefined ? increase(of) : `${increase(of)} - ${increase(less)}`];
  });
  const dispatchers = `count(herald_unsaved_recipients_limit{${selector}}) or vector(0)`;
  return { ...(Object.fromEntries(asked) as Record<Counted, string>), dispatchers }; // sound: it has every counted name
};

const counted = figureNames.filter((name): name is Counted => name !== "dispatchers");

const read = [...new Set(Object.values(terms).flatMap((both) => both.map((term) => nameOf(term?.metric ?? ""))))];

type Value = { metric: string; labels: Readonly<Record<string, string | number | undefined>>; value: number };

const valuesOf = async (registry: Registry): Promise<Value[]> => {
  const metrics = read.map((name) => registry.getSingleMetric(name)).filter((metric) => metric !== undefined);
  const found = await Promise.all(metrics.map(async (metric) => metric.get()));
  return found.flatMap(({ name, values }) => values.map((value) => ({ ...value, metric: seriesOf(value) ?? name })));
};

/** Histograms say of each value of which series it is. */
const seriesOf = (value: object): string | undefined =>
  "metricName" in value && typeof value.metricName === "string" ? value.metricName : undefined;

/** A histogram's series are those of one metric. */
function nameOf(series: string): string {
  return series.replace(/_(count|bucket)$/, "");
}

const sumOf = (values: readonly Value[], { metric, matching = {} }: Term): number => {
  const wanted = Object.entries(matching).map(([label, text]) => [label, new RegExp(`^(?:${text})$`)] as const);
  const isMeant = ({ labels }: Value): boolean =>
    wanted.every(([label, text]) => text.test(String(labels[label] ?? "")));
  return values.reduce((sum, one) => (one.metric === metric && isMeant(one) ? sum + one.value : sum), 0);
};
