import { type Component, components, type Status, statuses } from "../../schema/status/vocabulary.ts";
import { type Figures, type Rule, rules } from "./rules.ts";

/** What answered within a second when it was asked last. */
export type Reachable = { database: boolean; cache: boolean; queue: boolean; files: boolean };

export type Evidence = {
  reachable: Reachable;
  /** Null: they could not be read. */
  figures: Figures | null;
  /** The components that open incidents name. */
  affected: ReadonlySet<Component>;
};

/** The status of each component. Source: docs/reference/status.md#rules. */
export const judge = (evidence: Evidence): Record<Component, Status> =>
  Object.fromEntries(components.map((component) => [component, statusOf(component, evidence)])) as Record<
    Component,
    Status // sound: each has one
  >;

/** The worst of some statuses; `operational` when there is none. */
export const worst = (all: Iterable<Status>): Status => {
  const rank = Math.max(0, ...[...all].map((status) => statuses.indexOf(status)));
  return statuses[rank] ?? "major_outage";
};

const statusOf = (component: Component, { reachable, figures, affected }: Evidence): Status => {
  if (!reachable.database || !reachable.cache) return "major_outage";
  const waits = stores.some((store) => !reachable[store] && waiting[store].has(component));
  const judged = rules.filter((rule) => rule.components.includes(component)).map((rule) => outcome(rule, figures));
  return worst([...judged, waits || affected.has(component) ? "degraded" : "operational"]);
};

/** What waits in the database while a store is away; nothing else is affected. */
const waiting: Record<"queue" | "files", ReadonlySet<Component>> = {
  queue: new Set(["worker", "delivery"]),
  files: new Set(["worker"]),
};
const stores = ["queue", "files"] as const;

/** What a rule says; `operational` when nobody knows, or too little happened to tell. */
const outcome = ({ value, degraded, outage }: Rule, figures: Figures | null): Status => {
  const found = figures === null ? null : value(figures);
  if (found === null) return "operational";
  if (outage !== undefined && found >= outage) return "major_outage";
  return degraded !== undefined && found >= degraded ? "degraded" : "operational";
};
