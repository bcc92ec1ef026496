/** Bounds of a filter. Source: docs/reference/filters.md#bounds. */
export const filterLimits = { depth: 5, conditions: 200, items: 500, characters: 500, bytes: 65_536 } as const;

/** What a condition can ask of a field. */
export const filterOps = [
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "between",
  "in",
  "not_in",
  "contains",
  "not_contains",
  "starts_with",
  "ends_with",
  "exists",
  "not_exists",
  "within_last",
  "not_within_last",
  "before",
  "after",
  "time_elapsed_gt",
  "time_elapsed_lt",
  "within_radius",
  "member",
  "not_member",
  "performed",
  "not_performed",
] as const;

export type FilterOp = (typeof filterOps)[number];

/** The largest `radius_m` of `within_radius`. */
export const mostRadiusM = 500_000;

/** Bounds of what `performed` asks: conditions of `where`, days back, and times. */
export const historyLimits = { where: 10, days: 365, count: 1_000_000 } as const;

/** How often something was done, as `performed` compares it. */
export const countOps = ["eq", "gt", "gte", "lt", "lte"] as const satisfies readonly FilterOp[];

/** How the members of a group are combined; `none` is true when none of them is. */
export const filterMatches = ["all", "any", "none"] as const;

export type FilterMatch = (typeof filterMatches)[number];

/** Units of `within_last` in milliseconds. */
export const filterUnits = { minutes: 60_000, hours: 3_600_000, days: 86_400_000, weeks: 604_800_000 } as const;
