import type { GeneratedFile } from "../generated-file.ts";

/**
 * What an app's team looks at: its analytics, read over REST by Grafana's Infinity data source, which holds the address of
 * the service and an API key with `analytics:read`. An app may ask five times a second: no panel more than that.
 * Source: docs/analytics.md#dashboard.
 */
export const appDashboard = (): GeneratedFile => ({
  path: "charts/herald/dashboards/apps/analytics.json",
  text: `${JSON.stringify(analytics, null, 2)}\n`,
});

const datasource = { type: "yesoreyeram-infinity-datasource", uid: "$datasource" };

type Column = { selector: string; type: "number" | "string" | "timestamp"; text: string };
type Asked = { path: string; query?: Record<string, string>; root: string; columns: readonly Column[] };
type Panel = { type: "stat" | "timeseries" | "table"; title: string; description: string; unit: string; asked: Asked };

const number = (selector: string, text = selector): Column => ({ selector, text, type: "number" });
const text = (selector: string, name = selector): Column => ({ selector, text: name, type: "string" });
const at: Column = { selector: "at", text: "Time", type: "timestamp" };

const byDay = (metric: string): Asked => ({
  path: "timeseries",
  query: { metric, interval: "day" },
  root: "series.0.points",
  columns: [at, number("value", metric)],
});

const panels: readonly Panel[] = [
  {
    type: "stat",
    title: "Totals",
    description: "What became of the deliveries that were made in the range",
    unit: "short",
    asked: {
      path: "overview",
      root: "totals",
      columns: ["targeted", "sent", "delivered", "opened", "clicked", "converted", "bounced"].map((name) =>
        number(name),
      ),
    },
  },
  { type: "timeseries", title: "Sent", description: "By day", unit: "short", asked: byDay("sent") },
  {
    type: "timeseries",
    title: "Open rate",
    description: "By day; opens by programs are left out",
    unit: "percentunit",
    asked: byDay("open_rate"),
  },
  {
    type: "table",
    title: "Messages",
    description: "Those that were accepted in the range, the newest first",
    unit: "short",
    asked: {
      path: "messages",
      root: "data",
      columns: [
        text("name"),
        text("message_id"),
        ...["sent", "delivered", "opened", "clicked"].map((name) => number(`totals.${name}`, name)),
      ],
    },
  },
  {
    type: "table",
    title: "Failures",
    description: "Why deliveries did not arrive, and what to do",
    unit: "short",
    asked: {
      path: "failures",
      root: "data",
      columns: [text("key", "code"), text("channel"), number("count"), text("advice")],
    },
  },
];

const size = { stat: { w: 24, h: 4 }, timeseries: { w: 12, h: 8 }, table: { w: 24, h: 9 } } as const;

const drawn = (panel: Panel, index: number): object => ({
  id: index + 1,
  type: panel.type,
  title: panel.title,
  description: panel.description,
  datasource,
  gridPos: { ...size[panel.type], ...places[index] },
  fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
  ...(panel.type === "stat" && { options: { reduceOptions: { calcs: ["lastNotNull"] } } }),
  targets: [
    {
      refId: "A",
      datasource,
      type: "json",
      source: "url",
      parser: "backend",
      format: panel.type === "timeseries" ? "timeseries" : "table",
      url: `/v1/apps/$app/analytics/${panel.asked.path}`,
      url_options: {
        method: "GET",
        params: Object.entries({ ...panel.asked.query, from: beginning }).map(([key, value]) => ({ key, value })),
      },
      root_selector: panel.asked.root,
      columns: panel.asked.columns,
    },
  ],
});

/** Of the range that is looked at, which begins with a day: counters begin with quarters of an hour. */
const beginning = "${__from:date:iso}"; // oxlint-disable-line no-template-curly-in-string -- Grafana's own

const places = [
  { x: 0, y: 0 },
  { x: 0, y: 4 },
  { x: 12, y: 4 },
  { x: 0, y: 12 },
  { x: 0, y: 21 },
];

const ranges = [7, 30, 90, 365].map((days) => ({ display: `Last ${days} days`, from: `now-${days}d/d`, to: "now" }));

const analytics = {
  uid: "herald-app-analytics",
  title: "Herald / App",
  description: "What became of an app's messages",
  tags: ["herald-app"],
  editable: false,
  graphTooltip: 1,
  schemaVersion: 39,
  time: { from: "now-30d/d", to: "now" },
  timepicker: { quick_ranges: ranges },
  refresh: "",
  templating: {
    list: [
      { name: "datasource", label: "Data source", type: "datasource", query: datasource.type },
      { name: "app", label: "App", type: "textbox", query: "" },
    ],
  },
  panels: panels.map(drawn),
};
