/**
 * Every subject of the system. `prefix` is the installation's (default `herald`), so that several can share one NATS.
 * - `<prefix>.plan.<plan>.<tenant>`: a message waits to be planned.
 * - `<prefix>.deliver.<plan>.<tenant>`: a chunk waits to be sent.
 * - `<prefix>.events.<tenant>`: events happened (a batch of one tenant's).
 * - `<prefix>.webhooks.<endpoint>`: an endpoint hint: this endpoint has due deliveries.
 * - `<prefix>.jobs.<type>.<id>`: a job is due.
 * - `<prefix>.webhook-tests`: a request that an endpoint be tested now (core NATS, answered by a dispatcher).
 * - `<prefix>.lanes`: the holder of this endpoint's lease has new deliveries for it (core NATS).
 * - `<prefix>.config.<collection>.<id>`: a configuration document changed (core NATS, not stored).
 */
export const subjects = (prefix: string) => ({
  plan: (plan: string, tenantId: string): string => `${prefix}.plan.${plan}.${tenantId}`,
  deliver: (plan: string, tenantId: string): string => `${prefix}.deliver.${plan}.${tenantId}`,
  events: (tenantId: string): string => `${prefix}.events.${tenantId}`,
  webhook: (endpointId: string): string => `${prefix}.webhooks.${endpointId}`,
  job: (type: string, id: string): string => `${prefix}.jobs.${type}.${id}`,
  webhookTests: (): string => `${prefix}.webhook-tests`,
  newDeliveries: (): string => `${prefix}.lanes`,
  config: (collection: string, id: string): string => `${prefix}.config.${collection}.${id}`,
  allConfig: (): string => `${prefix}.config.>`,
});

export type Subjects = ReturnType<typeof subjects>;
