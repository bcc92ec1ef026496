import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { named } from "../json/named.ts";

const { Array: List, Enum, Optional, String: Text, Unknown } = Type;

/** Comparisons of a condition. Source: docs/reference/webhooks.md#filters. */
export const filterOps = [
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "in",
  "not_in",
  "contains",
  "not_contains",
  "starts_with",
  "ends_with",
  "exists",
  "not_exists",
  "between",
  "matches_event",
] as const;

export const FilterCondition = Closed({
  field: Text({
    minLength: 1,
    maxLength: 200,
    description: "dot path in the envelope; one that does not start with a member of it is looked up in `data`",
  }),
  op: Enum([...filterOps]),
  value: Optional(Unknown({ description: "none with exists and not_exists; a list with in, not_in, between" })),
});
export type FilterCondition = Static<typeof FilterCondition>;

/** Which events an endpoint is sent. Source: docs/reference/webhooks.md#filters. */
export const WebhookFilters = Closed({
  match: Enum(["all", "any", "none"]),
  conditions: List(FilterCondition, { minItems: 1, maxItems: 20 }),
});
export type WebhookFilters = Static<typeof WebhookFilters>;

named({ WebhookFilters });
