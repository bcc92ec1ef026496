import type { Outcome, Outcomes } from "#core/schema/analytics/outcomes.ts";
import { exampleTime } from "#core/schema/events/refs.ts";
import type { Docs } from "../http/feature.ts";

const outcome: Outcome = {
  name: "order_completed",
  is_conversion: true,
  attribution: "total",
  count: 1_200,
  sum: 48_210.5,
  previous: { count: 1_000, sum: 41_002 },
  change: { count: 0.2, sum: 0.1758 },
};

const outcomes: Outcomes = {
  from: "2026-11-01T00:00:00.000Z",
  to: "2026-11-15T00:00:00.000Z",
  timezone: "UTC",
  previous: { from: "2026-10-18T00:00:00.000Z", to: "2026-11-01T00:00:00.000Z" },
  clamped: false,
  as_of: exampleTime,
  complete_from: "2026-11-01T00:00:00.000Z",
  data: [outcome],
};

/** What the OpenAPI document says of analytics beside its operations. */
export const docs: Docs = {
  tags: { Analytics: "What happened in an app, by its counts." },
  examples: { Outcome: [outcome], Outcomes: [outcomes] },
  queryExamples: {
    from: "2026-11-01T00:00:00Z",
    to: "2026-11-15T00:00:00Z",
    timezone: "Europe/Berlin",
    name: ["order_completed"],
  },
};
