import { graph, here, type Row, stat } from "./layout.ts";

/** The records of charts/herald/alerts, by what they are of; each has a budget, and a ratio for each window. */
const records = {
  api_errors: "REST: answered 5xx",
  api_slow: "REST: over a second",
  accept_errors: "Accepting: answered 5xx",
  delivery_errors: "Delivering: put off or uncertain",
  sent_late: "Messages: sent after 5 s",
  webhooks_late: "Webhooks: begun after 5 s",
} as const;

/** Plain rules record a budget without a namespace, the chart's with that of its release. */
const burnRate = (record: string, window: string): string =>
  `max(herald:${record}:ratio_rate${window}{${here}}) / max(herald:${record}:budget{namespace=~"$namespace|"})`;

/** How much of each objective's error budget the last three days would leave of a month like them. */
export const objectives: Row = {
  title: "Objectives",
  panels: [
    ...Object.entries(records).map(([record, title]) =>
      stat(
        `Budget left: ${title}`,
        "percentunit",
        "Of a month's error budget, were all of it like the last 3 days; below 0 the objective is missed",
        `1 - ${burnRate(record, "3d")}`,
      ),
    ),
    graph(
      "Burn rate, 1 h",
      "short",
      "How many times faster than a month's budget allows; 14.4 for an hour wakes somebody",
      Object.entries(records).map(([record, legend]) => ({
        expr: burnRate(record, "1h"),
        legend,
      })),
    ),
    graph(
      "Burn rate, 6 h",
      "short",
      "The same over six hours; 6 wakes somebody, 1 for three days has somebody look in the morning",
      Object.entries(records).map(([record, legend]) => ({
        expr: burnRate(record, "6h"),
        legend,
      })),
    ),
  ],
};
