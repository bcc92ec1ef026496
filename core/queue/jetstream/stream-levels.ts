import type { JetStreamManager } from "@nats-io/jetstream";

/** What is in a stream, and how much may be. */
export type StreamLevel = {
  name: string;
  messages: number;
  bytes: number;
  /** -1: no limit. */
  bytesLimit: number;
  /** Messages that a consumer has not taken, or has taken and not settled. */
  pending: { consumer: string; messages: number }[];
};

/** How full the streams of an installation are; one for each plan and three more. */
export const streamLevels = async (
  jsm: Pick<JetStreamManager, "streams" | "consumers">,
  prefix: string,
): Promise<StreamLevel[]> => {
  const levels: StreamLevel[] = [];
  for await (const { config, state } of jsm.streams.list(`${prefix}.>`)) {
    if (!config.name.startsWith(`${prefix}-`)) continue; // another installation's whose prefix begins with ours
    const { messages, bytes } = state;
    levels.push({ name: config.name, messages, bytes, bytesLimit: config.max_bytes, pending: [] });
  }
  for (const level of levels) {
    for await (const { name, num_pending, num_ack_pending } of jsm.consumers.list(level.name)) {
      level.pending.push({ consumer: name, messages: num_pending + num_ack_pending });
    }
  }
  return levels;
};
