/** One curve, or one curve for each set of labels; `legend` names it by its labels: `{{channel}}`. */
export type Query = { expr: string; legend: string };

/** `unit` is one of Grafana's; a `stat` shows the newest value, a `graph` all of them. */
export type Panel = {
  kind: "graph" | "stat";
  title: string;
  description: string;
  unit: "reqps" | "ops" | "s" | "percentunit" | "short" | "bytes" | "cores";
  queries: readonly Query[];
};

export type Row = { title: string; panels: readonly Panel[] };
export type Dashboard = { name: string; title: string; description: string; rows: readonly Row[] };

/** The label matcher of every expression: the installation that is looked at. */
export const here = 'namespace=~"$namespace"';

export const graph = (title: string, unit: Panel["unit"], description: string, queries: Panel["queries"]): Panel => ({
  kind: "graph",
  title,
  description,
  unit,
  queries,
});

export const stat = (title: string, unit: Panel["unit"], description: string, expr: string): Panel => ({
  kind: "stat",
  title,
  description,
  unit,
  queries: [{ expr, legend: title }],
});

/** Change a second of a counter, by labels. */
export const rateBy = (labels: string, counter: string): string =>
  `sum by (${labels}) (rate(${counter}[$__rate_interval]))`;

/** A quantile of a histogram, by labels. `histogram` is its name with matchers: `name_bucket{…}`. */
export const quantileBy = (quantile: number, labels: string, histogram: string): string =>
  `histogram_quantile(${quantile}, ${rateBy(["le", labels].filter(Boolean).join(", "), histogram)})`;

/** Several quantiles of one histogram. */
export const quantiles = (histogram: string): Query[] =>
  [0.5, 0.95, 0.99].map((q) => ({ expr: quantileBy(q, "", histogram), legend: `p${q * 100}` }));

/** The dashboard as Grafana reads it. */
export const grafana = ({ name, title, description, rows }: Dashboard): object => ({
  uid: `herald-${name}`,
  title: `Herald / ${title}`,
  description,
  tags: ["herald"],
  editable: false,
  graphTooltip: 1,
  schemaVersion: 39,
  time: { from: "now-3h", to: "now" },
  refresh: "30s",
  templating: { list: [datasourceVariable, namespaceVariable] },
  links: [
    { type: "dashboards", title: "Herald", tags: ["herald"], asDropdown: true, keepTime: true, includeVars: true },
  ],
  panels: arranged(rows),
});

const datasource = { type: "prometheus", uid: "$datasource" };

const datasourceVariable = { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" };

const namespaceVariable = {
  name: "namespace",
  label: "Namespace",
  type: "query",
  datasource,
  query: "label_values(herald_dependency_up, namespace)",
  refresh: 2,
  includeAll: true,
  allValue: ".*",
  current: { text: "All", value: "$__all" },
};

const gridWidth = 24;
const size = { graph: { w: 8, h: 8 }, stat: { w: 6, h: 4 } } as const;

/** From left to right, row after row. */
const arranged = (rows: readonly Row[]): object[] => {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({
      id: placed.length + 1,
      type: "row",
      title,
      gridPos: { x: 0, y: y++, w: gridWidth, h: 1 },
      panels: [],
    });
    let x = 0;
    let tallest = 0;
    for (const panel of panels) {
      const { w, h } = size[panel.kind];
      if (x + w > gridWidth) {
        x = 0;
        y += tallest;
        tallest = 0;
      }
      placed.push({ id: placed.length + 1, ...drawn(panel), gridPos: { x, y, w, h } });
      x += w;
      tallest = Math.max(tallest, h);
    }
    y += tallest;
  }
  return placed;
};

const drawn = ({ kind, title, description, unit, queries }: Panel): object => ({
  type: kind === "graph" ? "timeseries" : "stat",
  title,
  description,
  datasource,
  fieldConfig: { defaults: { unit: unit === "cores" ? "short" : unit, min: 0 }, overrides: [] },
  options: kind === "graph" ? { tooltip: { mode: "multi" } } : { reduceOptions: { calcs: ["lastNotNull"] } },
  targets: queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode("A".charCodeAt(0) + index),
    datasource,
    expr,
    legendFormat: legend,
    ...(expr.includes("histogram_quantile(") && { exemplar: true }), // a dot on the curve that leads to a trace
  })),
});
