import {
  AckPolicy,
  type ConsumerConfig,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import type { Timing } from "../../domain/timing.ts";
import type { Partitioning } from "../../domain/webhooks/partitions.ts";

/** A stream with the consumers that read it; every stream and consumer of Herald stands in this file. */
export type StreamSpec = {
  stream: Partial<StreamConfig> & { name: string; subjects: string[] };
  consumers: (Partial<ConsumerConfig> & { durable_name: string })[];
};

/** How long JetStream waits for an answer, or a word that work goes on, before it hands a hint out again. */
export type AckTiming = Pick<Timing, "ackWaitMs">;

const mebibyte = 1_048_576;

/** JetStream drops a publication whose id it has seen within this time. */
export const duplicateWindowMs = 120_000;

/** `plan` and `deliver` hints of one plan's tenants. A tenant over its backlog is refused (error 10077), others are not. */
export const planStream = (
  prefix: string,
  plan: { name: string; backlogPerTenant: number },
  timing: AckTiming,
): StreamSpec => ({
  stream: {
    name: `${prefix}-work-${plan.name}`,
    subjects: [`${prefix}.plan.${plan.name}.*`, `${prefix}.deliver.${plan.name}.*`],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs: -1,
    max_msgs_per_subject: plan.backlogPerTenant,
    max_bytes: 256 * mebibyte,
    duplicate_window: duplicateWindowMs * 1_000_000,
  },
  consumers: [
    pull("plan", `${prefix}.plan.${plan.name}.*`, pendingOf(plan.backlogPerTenant), timing),
    pull("deliver", `${prefix}.deliver.${plan.name}.*`, pendingOf(plan.backlogPerTenant), timing),
  ],
});

/**
 * Batches of events of a subject that may wait, of 64 KiB each: a tenant has at most half of the stream with the events of
 * the apps of one partition, and their custom ones.
 */
export const eventBatchesPerTenant = 4_096;

/**
 * Events of every app, kept until each consumer has them. A tenant over its share is refused, so that its outboxes keep
 * them; others are not (docs/decisions/0045). Each partition has a consumer (docs/decisions/0048).
 */
export const eventStream = (prefix: string, timing: AckTiming, { all, groupsOf }: Partitioning): StreamSpec => ({
  stream: eventsIn(`${prefix}-app-events`, `${prefix}.app-events.>`),
  consumers: [
    ...all.map((partition) => {
      const filters = groupsOf(partition).map(({ groups, group }) => `${prefix}.app-events.${groups}.${group}.>`);
      return pull(webhookConsumer(partition), filters, pendingOf(eventBatchesPerTenant), timing);
    }),
    pull("custom-events", `${prefix}.app-events.*.*.*.custom`, pendingOf(eventBatchesPerTenant), timing),
  ],
});

/** The consumer that the owner of a partition pulls. */
export const webhookConsumer = (partition: number): string => `webhooks-${partition}`;

/** Events that programs of the last release publish; it goes with the next one. */
export const formerEventStream = (prefix: string, timing: AckTiming): StreamSpec => ({
  stream: eventsIn(`${prefix}-events`, `${prefix}.events.>`),
  consumers: [
    pull("webhooks", `${prefix}.events.>`, pendingOf(eventBatchesPerTenant), timing),
    pull("custom-events", `${prefix}.events.*.custom`, pendingOf(eventBatchesPerTenant), timing),
  ],
});

const eventsIn = (name: string, subject: string): StreamSpec["stream"] => ({
  name,
  subjects: [subject],
  retention: RetentionPolicy.Interest,
  storage: StorageType.File,
  discard: DiscardPolicy.New,
  discard_new_per_subject: true,
  max_msgs: -1,
  max_msgs_per_subject: eventBatchesPerTenant,
  max_bytes: 1024 * mebibyte,
  duplicate_window: duplicateWindowMs * 1_000_000,
});

/** Batches of callbacks of one tenant that may wait: of 256 KiB each, so that a tenant has at most a quarter of the stream. */
export const callbackBatchesPerTenant = 1_024;

/** Callbacks of providers. A tenant over its share is refused, so that the provider repeats them; others are not. */
export const callbackStream = (prefix: string, timing: AckTiming): StreamSpec => ({
  stream: {
    name: `${prefix}-callbacks`,
    subjects: [`${prefix}.callbacks.*`],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs: -1,
    max_msgs_per_subject: callbackBatchesPerTenant,
    max_bytes: 1024 * mebibyte,
    duplicate_window: duplicateWindowMs * 1_000_000,
  },
  consumers: [pull("callbacks", `${prefix}.callbacks.*`, pendingOf(callbackBatchesPerTenant), timing)],
});

/**
 * Hints of jobs: at most one waits for each, and keeps its place until it is handled. Those of short jobs have a consumer
 * of their own, so that they do not wait behind long ones.
 */
export const jobStream = (prefix: string, timing: AckTiming): StreamSpec => ({
  stream: {
    name: `${prefix}-jobs`,
    subjects: [`${prefix}.jobs.*.*`, `${prefix}.short-jobs.*.*`],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs: -1,
    max_msgs_per_subject: 1,
    max_bytes: 64 * mebibyte,
  },
  consumers: [
    pull("jobs", `${prefix}.jobs.*.*`, 1_000, timing),
    pull("short-jobs", `${prefix}.short-jobs.*.*`, 1_000, timing),
  ],
});

/** The streams that all tenants share. */
export const sharedStreams = (prefix: string, timing: AckTiming, partitioning: Partitioning): StreamSpec[] => [
  eventStream(prefix, timing, partitioning),
  ...[formerEventStream, callbackStream, jobStream].map((specOf) => specOf(prefix, timing)),
];

/**
 * What a consumer may have in hand: more than three tenants have waiting. Hints that fail wait there to come again; were
 * they all that it may have, all other tenants would wait for one.
 */
const pendingOf = (perTenant: number): number => Math.max(1_000, 4 * perTenant);

/** MaxDeliver stays -1: a work queue would keep what it gives up on; worker.ts ends messages itself. */
const pull = (
  name: string,
  filter: string | string[],
  maxPending: number,
  { ackWaitMs }: AckTiming,
): StreamSpec["consumers"][number] => ({
  durable_name: name,
  ...(typeof filter === "string" ? { filter_subject: filter } : { filter_subjects: filter }),
  ack_policy: AckPolicy.Explicit,
  ack_wait: ackWaitMs * 1_000_000,
  max_ack_pending: maxPending,
  max_deliver: -1,
});
