import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { rootDir } from "../../../dev/files/paths.ts";

export type Rule = { expr: string; record?: string };
export type Alert = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
};

/** Files with the chart's rules, as Prometheus reads them. */
export const ruleFiles = globSync("charts/herald/alerts/*.yaml", { cwd: rootDir })
  .map((path) => join(rootDir, path))
  .sort();

const rules = ruleFiles.flatMap((path) => {
  const { groups } = parse(readFileSync(path, "utf8")) as { groups: { rules: (Rule | Alert)[] }[] };
  return groups.flatMap((group) => group.rules);
});

export const alerts = rules.filter((rule): rule is Alert => "alert" in rule);
export const records = rules.filter((rule): rule is Rule & { record: string } => "record" in rule);

/** An expression of a dashboard, where it stands and what its panel says of it. */
export type Shown = { where: string; expr: string; description: string; unit: string };

export const shown: Shown[] = globSync("charts/herald/dashboards/*.json", { cwd: rootDir }).flatMap((path) => {
  const { title, panels } = JSON.parse(readFileSync(join(rootDir, path), "utf8")) as GrafanaDashboard;
  return panels.flatMap((panel) =>
    (panel.targets ?? []).map(({ expr }) => ({
      where: `${title} / ${panel.title}`,
      expr,
      description: panel.description,
      unit: panel.fieldConfig.defaults.unit,
    })),
  );
});

type GrafanaPanel = {
  title: string;
  description: string;
  fieldConfig: { defaults: { unit: string } };
  targets?: { expr: string }[];
};
type GrafanaDashboard = { title: string; panels: GrafanaPanel[] };

/** A metric that an expression reads, with the labels that its matchers name; `text` is how it stands there. */
export type Selector = { metric: string; labels: string[]; text: string };

export const selectorsOf = (expr: string): Selector[] =>
  [
    ...expr
      .replaceAll(/\b(?:by|on|group_left) *\([^)]*\)/g, "")
      .matchAll(/\b([a-z][a-z0-9]*(?:[_:][a-z0-9_]+)+)(?![\w(])(?: *\{([^}]*)\})?/g),
  ].map(([text, metric = "", matchers = ""]) => ({
    text,
    metric,
    labels: [...matchers.matchAll(/(\w+) *(?:=~|!~|!=|=) *"/g)].map(([, label = ""]) => label),
  }));
