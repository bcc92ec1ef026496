/**
 * Every subject of the system. `prefix` is the installation's (default `herald`), so that several can share one NATS.
 * - `<prefix>.plan.<plan>.<tenant>`: a message waits to be planned.
 * - `<prefix>.deliver.<plan>.<tenant>`: a chunk waits to be sent.
 * - `<prefix>.events.<tenant>`: events happened (a batch of one tenant's).
 * - `<prefix>.events.<tenant>.custom`: the same of custom events alone, which are stored and counted.
 * - `<prefix>.callbacks.<tenant>`: callbacks of providers wait to be read (a batch of one tenant's).
 * - `<prefix>.jobs.<type>.<id>`: a job is due; `<prefix>.short-jobs.<type>.<id>`: a short one.
 * - `<prefix>.webhook-tests`: a request that an endpoint be tested now (core NATS, answered by a dispatcher).
 * - `<prefix>.webhook-shares`: the table says anew which dispatcher owns which endpoints (core NATS).
 * - `<prefix>.webhook-notices`: deliveries were stored for this endpoint (core NATS, for its owner).
 * - `<prefix>.webhook-owner.<holder>`: events for endpoints that this dispatcher owns (core NATS, answered by it).
 * - `<prefix>.config.<collection>.<id>`: a configuration document changed (core NATS, not stored).
 */
export const subjects = (prefix: string) => ({
  plan: (plan: string, tenantId: string): string => `${prefix}.plan.${plan}.${tenantId}`,
  deliver: (plan: string, tenantId: string): string => `${prefix}.deliver.${plan}.${tenantId}`,
  events: (tenantId: string): string => `${prefix}.events.${tenantId}`,
  customEvents: (tenantId: string): string => `${prefix}.events.${tenantId}.custom`,
  callbacks: (tenantId: string): string => `${prefix}.callbacks.${tenantId}`,
  job: (type: string, id: string): string => `${prefix}.jobs.${type}.${id}`,
  shortJob: (type: string, id: string): string => `${prefix}.short-jobs.${type}.${id}`,
  webhookTests: (): string => `${prefix}.webhook-tests`,
  webhookShares: (): string => `${prefix}.webhook-shares`,
  webhookNotices: (): string => `${prefix}.webhook-notices`,
  webhookOwner: (holder: string): string => `${prefix}.webhook-owner.${holder.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`,
  config: (collection: string, id: string): string => `${prefix}.config.${collection}.${id}`,
  allConfig: (): string => `${prefix}.config.>`,
});

export type Subjects = ReturnType<typeof subjects>;
