import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import { isConflict, isNotFound, KubeError } from "#core/runtime/kube/errors.ts";
import type { ObjectMeta, Resource } from "#core/runtime/kube/objects.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { resourceApiVersion } from "#core/schema/kubernetes/definition.ts";
import { Deposed } from "#core/storage/settings/managed.ts";

/** Says to people what happened to a resource; `kubectl describe` shows it. */
export type Note = { type: "Normal" | "Warning"; reason: string; message: string };

/**
 * Reports a note and returns at once. Notes that come too often, that the API server refuses, or that cannot be written
 * within some two minutes are dropped.
 */
export type Report = (kind: string, resource: Resource, note: Note) => void;

export type EventsDeps = { client: Pick<KubeClient, "call">; holder: string; clock: Clock; log: Log };

const mostPending = 1_000; // 100 s of writing; more than these are dropped, and the conditions of their objects say the same
const paceMs = 100; // ten a second
const mostTries = 12; // as client-go
const mostRetryMs = 10_000; // as client-go; the first retries come sooner

/**
 * Writes Kubernetes Events, in order. An Event of the last ten minutes that comes again is not repeated but counted. One
 * that cannot be written now is tried again: nothing else would report, for example, that a token was replaced.
 */
export const eventRecorder = (deps: EventsDeps): Report => {
  const pending: Reported[] = [];
  const admits = spamFilter();
  const write = writer(deps);
  const warned = new Set<number>();
  let isDraining = false;

  const dropped = (error: unknown): void => {
    if (error instanceof Deposed) return void pending.splice(0); // another operator leads
    const status = error instanceof KubeError ? error.status : -1;
    // once for each status: ten lines a second are of no use
    if (!warned.has(status)) deps.log.warn({ error: String(error) }, "event.dropped");
    warned.add(status);
  };
  const writeInTime = async (event: Reported, tries = 1): Promise<void> => {
    try {
      await write(event);
    } catch (error) {
      if (tries === mostTries || isRefused(error)) throw error;
      await sleep(Math.min(mostRetryMs, 250 * 2 ** tries), undefined, { ref: false });
      await writeInTime(event, tries + 1);
    }
  };
  const drain = async (): Promise<void> => {
    isDraining = true;
    for (let event = pending.shift(); event !== undefined; event = pending.shift()) {
      await writeInTime(event).catch(dropped);
      await sleep(paceMs);
    }
    isDraining = false;
  };
  return (kind, { metadata }, note) => {
    const at = deps.clock.now();
    if (pending.length >= mostPending || !admits(metadata.uid, at)) return;
    const name = `${metadata.name.slice(0, 216)}.${randomUUID()}`; // a name has at most 253 characters
    pending.push({ kind, metadata, note, at, name });
    if (!isDraining) void drain();
  };
};

/** `name`: the Event's own, so that a write whose answer was lost can be repeated. */
type Reported = { kind: string; metadata: ObjectMeta; note: Note; at: Date; name: string };
type Written = { name: string; count: number; lastAt: number };

const sameMs = 600_000; // client-go's aggregation window
const mostKnown = 4_096; // client-go's cache of events

const writer = ({ client, holder }: EventsDeps) => {
  const known = new LRUCache<string, Written>(atMostEntries(mostKnown));

  const begin = async (event: Reported): Promise<Written> => {
    const request = { method: "POST", path: eventsPath(event), body: bodyOf(event, holder) } as const;
    await client.call(request, soon()).catch((error: unknown) => {
      if (!isConflict(error)) throw error; // it was written, and the answer was lost
    });
    return { name: event.name, count: 1, lastAt: event.at.getTime() };
  };
  const repeat = async (event: Reported, { name, count }: Written): Promise<Written> => {
    const body = { count: count + 1, lastTimestamp: event.at.toISOString() };
    await client.call({ method: "PATCH", path: `${eventsPath(event)}/${name}`, body }, soon());
    return { name, count: count + 1, lastAt: event.at.getTime() };
  };
  return async (event: Reported): Promise<void> => {
    const key = JSON.stringify([event.metadata.uid, event.note]);
    const before = known.get(key);
    const isRepeat = before !== undefined && event.at.getTime() - before.lastAt < sameMs;
    const again = (error: unknown) => {
      if (isNotFound(error)) return begin(event); // events live for an hour, or until somebody removes them
      throw error;
    };
    known.set(key, await (isRepeat ? repeat(event, before).catch(again) : begin(event)));
  };
};

/** Kubernetes keeps Events of a cluster-wide object in the namespace `default`. */
const eventsPath = ({ metadata }: Reported): string => `/api/v1/namespaces/${metadata.namespace ?? "default"}/events`;

const component = "herald-operator";

const bodyOf = ({ kind, metadata, note, at, name: eventName }: Reported, holder: string): object => {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: eventName, namespace: namespace ?? "default" },
    involvedObject: { apiVersion: resourceApiVersion, kind, name, namespace, uid, resourceVersion },
    ...note,
    message: note.message.slice(0, 1024), // the most that the API takes
    count: 1,
    firstTimestamp: at.toISOString(),
    lastTimestamp: at.toISOString(),
    source: { component },
    reportingComponent: component,
    reportingInstance: holder.slice(0, 128), // the most that the API takes
  };
};

const burst = 25; // as client-go's filter has it
const refillMs = 300_000; // as client-go: one more every five minutes

/** Gives each object a bucket of tokens: one that changes all the time must not flood its namespace with Events. */
export const spamFilter = () => {
  const buckets = new LRUCache<string, { tokens: number; at: number }>(atMostEntries(mostKnown));
  return (uid: string, now: Date): boolean => {
    const { tokens, at } = buckets.get(uid) ?? { tokens: burst, at: now.getTime() };
    const filled = Math.min(burst, tokens + Math.max(0, now.getTime() - at) / refillMs);
    const isAdmitted = filled >= 1;
    buckets.set(uid, { tokens: isAdmitted ? filled - 1 : filled, at: now.getTime() });
    return isAdmitted;
  };
};

const soon = (): AbortSignal => AbortSignal.timeout(10_000);

/** Whether it would be refused again: neither the API server's state nor its load is the reason. */
const isRefused = (error: unknown): boolean =>
  error instanceof KubeError && error.status >= 400 && error.status < 500 && error.status !== 429;
