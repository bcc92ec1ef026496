import { exampleTime } from "#core/schema/events/refs.ts";
import type { Usage } from "#core/schema/usage/usage.ts";
import type { Docs } from "../http/feature.ts";

const lastHour = {
  requests: 1_800,
  messages: 40,
  deliveries: 12_000,
  events: 24_100,
  webhook_requests: 24_080,
  bytes: 18_400_000,
};

const thisMonth = {
  requests: 801_200,
  messages: 18_310,
  deliveries: 5_402_118,
  events: 10_911_402,
  webhook_requests: 10_920_007,
  bytes: 8_120_448_310,
};

const quota = { limit: 10_000_000, used: 5_402_118, resets_at: "2026-12-01T00:00:00.000Z" };

/** What the OpenAPI document says of usage beside its operation. */
export const docs: Docs = {
  tags: { Usage: "What an organisation uses of the service." },
  examples: {
    UsageCounts: [lastHour],
    QuotaUse: [quota],
    Allowance: [{ limit: 3, used: 2 }],
    Usage: [
      {
        tenant_id: "ten_01JDKQ4WSM7Y2HDB9C4TNEQ0KF",
        last_hour: lastHour,
        this_month: thisMonth,
        webhook_backlog: 20,
        webhook_backlog_at: exampleTime,
        limits: {
          requests_per_second: 100,
          messages_per_month: quota,
          messages_per_day: null,
          subscribers: { limit: 50_000, used: 12_345 },
          apps: { limit: 3, used: 2 },
          members: { limit: 10, used: null },
          retention_days: 90,
        },
        as_of: exampleTime,
      } satisfies Usage,
    ],
  },
};
