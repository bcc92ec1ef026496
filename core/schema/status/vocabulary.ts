/** The parts of the service whose status is published. Source: docs/reference/status.md#components. */
export const components = ["api", "dashboard", "worker", "delivery", "sdk"] as const;
export type Component = (typeof components)[number];

/** How a component is, the best first. */
export const statuses = ["operational", "degraded", "major_outage"] as const;
export type Status = (typeof statuses)[number];

export const incidentStatuses = ["investigating", "identified", "monitoring", "resolved"] as const;
export type IncidentStatus = (typeof incidentStatuses)[number];

export const severities = ["minor", "major", "critical"] as const;
export type Severity = (typeof severities)[number];

/** Bounds of incidents. Source: docs/reference/status.md#incidents. */
export const incidentLimits = { titleCharacters: 200, messageCharacters: 5_000, updates: 100 } as const;
