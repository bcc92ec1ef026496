import type { PartitionGroup } from "../domain/webhooks/partitions.ts";

/**
 * Every subject of the system. `prefix` is the installation's (default `herald`), so that several can share one NATS.
 * - `<prefix>.plan.<plan>.<tenant>`: a message waits to be planned.
 * - `<prefix>.deliver.<plan>.<tenant>`: a chunk waits to be sent.
 * - `<prefix>.app-events.<groups>.<group>.<tenant>`: events of an app happened (a batch), for the partitions of a group.
 * - `<prefix>.app-events.<groups>.<group>.<tenant>.custom`: the same of custom events alone, which are stored and counted.
 * - `<prefix>.events.<tenant>`, with `.custom`: the same, published by the last release.
 * - `<prefix>.callbacks.<tenant>`: callbacks of providers wait to be read (a batch of one tenant's).
 * - `<prefix>.jobs.<type>.<id>`: a job is due; `<prefix>.short-jobs.<type>.<id>`: a short one.
 * - `<prefix>.webhook-tests`: a request that an endpoint be tested now (core NATS, answered by a dispatcher).
 * - `<prefix>.webhook-partitions`: the table says anew which dispatcher owns which partitions (core NATS).
 * - `<prefix>.webhook-notices.<partition>`: deliveries were stored for this endpoint (core NATS, for the partition's owner).
 * - `<prefix>.webhook-notices`: the same, for dispatchers of the last release.
 * - `<prefix>.inbox-notices.<user>`: a person's inbox changed (core NATS, for apiservers that show it just now).
 * - `<prefix>.config.<collection>.<id>`: a configuration document changed (core NATS, not stored).
 */
export const subjects = (prefix: string) => ({
  plan: (plan: string, tenantId: string): string => `${prefix}.plan.${plan}.${tenantId}`,
  deliver: (plan: string, tenantId: string): string => `${prefix}.deliver.${plan}.${tenantId}`,
  events: ({ groups, group }: PartitionGroup, tenantId: string): string =>
    `${prefix}.app-events.${groups}.${group}.${tenantId}`,
  customEvents: ({ groups, group }: PartitionGroup, tenantId: string): string =>
    `${prefix}.app-events.${groups}.${group}.${tenantId}.custom`,
  callbacks: (tenantId: string): string => `${prefix}.callbacks.${tenantId}`,
  job: (type: string, id: string): string => `${prefix}.jobs.${type}.${id}`,
  shortJob: (type: string, id: string): string => `${prefix}.short-jobs.${type}.${id}`,
  webhookTests: (): string => `${prefix}.webhook-tests`,
  /** Asked for a test of a destination of warehouse exports; a dispatcher answers. */
  warehouseTests: (): string => `${prefix}.warehouse-tests`,
  webhookPartitions: (): string => `${prefix}.webhook-partitions`,
  /** `*`: those of every partition. */
  webhookNotices: (partition: number | "*"): string => `${prefix}.webhook-notices.${partition}`,
  formerWebhookNotices: (): string => `${prefix}.webhook-notices`,
  inboxNotices: (userId: string): string => `${prefix}.inbox-notices.${userId}`,
  config: (collection: string, id: string): string => `${prefix}.config.${collection}.${id}`,
  allConfig: (): string => `${prefix}.config.>`,
});

/** The group of partitions that a subject of events names; null for one of the last release. */
export const groupIn = (subject: string): PartitionGroup | null => {
  const [, groups, group] = /\.app-events\.(\d+)\.(\d+)\./.exec(subject) ?? [];
  return groups === undefined ? null : { groups: Number(groups), group: Number(group) };
};

/** The tenant that a subject of events names, also one of the last release, or one of a message or a chunk that waits. */
export const tenantIn = (subject: string): string => {
  const [, tenantId] = /\.(?:app-events\.\d+\.\d+|events|(?:plan|deliver)\.[^.]+)\.([^.]+)/.exec(subject) ?? [];
  return tenantId ?? "";
};

export type Subjects = ReturnType<typeof subjects>;
