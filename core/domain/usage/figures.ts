/** What is counted of each tenant. Source: docs/reference/usage.md#figures. */
export const usageFigures = ["requests", "messages", "deliveries", "events", "webhook_requests", "bytes"] as const;

export type UsageFigure = (typeof usageFigures)[number];

/** How often each thing happened; `bytes` is their sum. */
export type UsageCounts = Record<UsageFigure, number>;

export const noUsage = (): UsageCounts => ({
  requests: 0,
  messages: 0,
  deliveries: 0,
  events: 0,
  webhook_requests: 0,
  bytes: 0,
});

/** Adds counts to others, in place: members that are left out count nothing. */
export const addUsage = (to: UsageCounts, counts: Partial<UsageCounts>): void => {
  for (const figure of usageFigures) to[figure] += counts[figure] ?? 0;
};

/** The sum of these counts. */
export const sumOfUsage = (all: Iterable<Partial<UsageCounts>>): UsageCounts => {
  const sum = noUsage();
  for (const counts of all) addUsage(sum, counts);
  return sum;
};
