import type { Component } from "../../schema/status/vocabulary.ts";

/** What the status is judged by, of the last five minutes and of all processes together. */
export const figureNames = [
  "requests",
  "failed_requests",
  "slow_requests",
  "device_requests",
  "failed_device_requests",
  "slow_device_requests",
  "deliveries",
  "put_off_deliveries",
  "due_documents",
  "late_documents",
  "dispatchers",
] as const;
export type FigureName = (typeof figureNames)[number];
export type Figures = Readonly<Record<FigureName, number>>;

/** The time that figures are of. */
export const windowMs = 300_000;

/** A process whose last heartbeat is older than this is gone. */
export const heartbeatMs = 60_000;

export type Rule = {
  name: string;
  /** The components that it judges. */
  components: readonly Component[];
  /** What is compared with the bounds; null when too little happened to tell. */
  value: (figures: Figures) => number | null;
  /** From this value on. */
  degraded?: number;
  outage?: number;
};

/** Source: docs/reference/status.md#rules. */
export const rules: readonly Rule[] = [
  {
    name: "requests-fail",
    components: ["api", "dashboard"],
    value: (all) => share(all.failed_requests - all.failed_device_requests, all.requests - all.device_requests),
    degraded: 0.05,
    outage: 0.5,
  },
  {
    name: "requests-slow", // than a second
    components: ["api", "dashboard"],
    value: (all) => share(all.slow_requests - all.slow_device_requests, all.requests - all.device_requests),
    degraded: 0.1,
  },
  {
    name: "device-requests-fail", // those below /sdk
    components: ["sdk"],
    value: (all) => share(all.failed_device_requests, all.device_requests),
    degraded: 0.05,
    outage: 0.5,
  },
  {
    name: "device-requests-slow", // than a second
    components: ["sdk"],
    value: (all) => share(all.slow_device_requests, all.device_requests),
    degraded: 0.1,
  },
  {
    name: "no-worker",
    components: ["worker", "delivery"],
    value: ({ dispatchers }) => (dispatchers < 1 ? 1 : 0),
    outage: 1,
  },
  {
    name: "work-late", // by more than 10 s
    components: ["worker"],
    value: (all) => share(all.late_documents, all.due_documents),
    degraded: 0.1,
  },
  {
    name: "deliveries-put-off",
    components: ["delivery"],
    value: (all) => share(all.put_off_deliveries, all.deliveries),
    degraded: 0.1,
    outage: 0.9,
  },
];

const least = 20; // of fewer a single one would decide

const share = (part: number, all: number): number | null => (all < least ? null : part / all);
