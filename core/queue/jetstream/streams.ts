import {
  type ConsumerConfig,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  type StreamConfig,
} from "@nats-io/jetstream";
import type { StreamSpec } from "./topology.ts";

/** `draining`: more waits for a subject than its source allows; nothing of it is dropped, and no more is taken. */
export type Ensured = "created" | "updated" | "unchanged" | "draining";

/**
 * Makes a stream and its consumers what their source says, kept in so many copies; without a number those that it has
 * stay. Several programs may do so at the same time.
 */
export const ensureStream = async (
  jsm: JetStreamManager,
  { stream, consumers }: StreamSpec,
  replicas?: number,
): Promise<Ensured> => {
  const ensured = await ensureLimits(jsm, replicas === undefined ? stream : { ...stream, num_replicas: replicas });
  let isChanged = false;
  for (const consumer of consumers) isChanged = (await ensureConsumer(jsm, stream.name, consumer)) || isChanged;
  return ensured === "unchanged" && isChanged ? "updated" : ensured;
};

const ensureLimits = async (jsm: JetStreamManager, wanted: StreamSpec["stream"]): Promise<Ensured> => {
  const actual = await jsm.streams.info(wanted.name).catch(nullWhenMissing);
  if (actual === null) {
    await jsm.streams.add(wanted);
    return "created";
  }
  if (isLower(wanted, actual.config)) return lower(jsm, wanted, actual.config);
  if (covers(actual.config, wanted)) return "unchanged";
  await jsm.streams.update(wanted.name, wanted);
  return "updated";
};

type Limits = Pick<Partial<StreamConfig>, "max_msgs_per_subject" | "discard_new_per_subject">;

const isLower = ({ max_msgs_per_subject: wanted = -1 }: Limits, { max_msgs_per_subject: actual = -1 }: Limits) =>
  wanted > 0 && (actual <= 0 || wanted < actual);

/**
 * Lowers the limit of a subject to what waits for the deepest one, and further when it is called again. JetStream would
 * drop what is above a limit, whatever is said of new messages (nats-server 2.15, filestore.go, UpdateConfig): so the
 * stream takes nothing while it is measured.
 */
const lower = async (
  jsm: JetStreamManager,
  wanted: StreamSpec["stream"],
  actual: StreamConfig,
): Promise<"updated" | "draining"> => {
  const limitOf = async (): Promise<number> =>
    Math.max(wanted.max_msgs_per_subject ?? 1, await deepest(jsm, wanted.name));
  if ((await limitOf()) === actual.max_msgs_per_subject && covers(actual, { ...wanted, ...limits(actual) }))
    return "draining";
  await jsm.streams.update(wanted.name, { ...wanted, ...limits(actual), max_msgs: 1 }); // full: drops nothing
  const limit = await limitOf();
  await jsm.streams.update(wanted.name, { ...wanted, max_msgs_per_subject: limit });
  return limit === wanted.max_msgs_per_subject ? "updated" : "draining";
};

const limits = ({ max_msgs_per_subject, discard_new_per_subject }: StreamConfig): Limits => ({
  max_msgs_per_subject,
  discard_new_per_subject,
});

/** Messages of the subject that most wait for. */
const deepest = async (jsm: JetStreamManager, stream: string): Promise<number> => {
  const { state } = await jsm.streams.info(stream, { subjects_filter: ">" });
  return Object.values(state.subjects ?? {}).reduce((most, count) => Math.max(most, count), 0);
};

const ensureConsumer = async (
  jsm: JetStreamManager,
  stream: string,
  wanted: Partial<ConsumerConfig> & { durable_name: string },
): Promise<boolean> => {
  const actual = await jsm.consumers.info(stream, wanted.durable_name).catch(nullWhenMissing);
  if (actual !== null && covers(actual.config, wanted)) return false;
  if (actual === null) await jsm.consumers.add(stream, wanted);
  else await jsm.consumers.update(stream, wanted.durable_name, wanted);
  return true;
};

const missing: readonly number[] = [JetStreamApiCodes.StreamNotFound, JetStreamApiCodes.ConsumerNotFound];

const nullWhenMissing = (error: unknown): null => {
  if (error instanceof JetStreamApiError && missing.includes(error.code)) return null;
  throw error;
};

/** Whether every member that is wanted has its value; the server adds many of its own. */
const covers = (actual: object, wanted: object): boolean =>
  Object.entries(wanted).every(([key, value]) => JSON.stringify(Reflect.get(actual, key)) === JSON.stringify(value));
