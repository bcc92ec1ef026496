import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import { KubeError } from "#core/runtime/kube/errors.ts";
import type { KubeObject } from "#core/runtime/kube/objects.ts";

export type WatchEvent<T> = { type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; object: T };

export type WatchOptions = {
  client: KubeClient;
  path: string;
  accept: string;
  /** Empty, or a part of the query that ends in `&`. */
  filter: string;
  from: string;
  idleMs: number;
  endsInMs: number;
};

/**
 * Events since version `from`, with bookmarks. Ends when the server closes it, at `endsInMs`, or after `idleMs` without
 * a byte: a connection that the network has cut stays silent, and to go on from the last version costs little.
 * @throws KubeError 410 when the version is too old, 0 when the connection broke
 */
export async function* watch<T extends KubeObject>(
  { client, path, accept, filter, from, idleMs, endsInMs }: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>> {
  const seconds = Math.max(1, Math.ceil(endsInMs / 1000));
  const query = `${filter}watch=true&allowWatchBookmarks=true&resourceVersion=${from}&timeoutSeconds=${seconds}`;
  const answer = await client.open({ method: "GET", path: `${path}?${query}`, accept }, signal);
  const idle = idleGuard(answer, idleMs, endsInMs);
  try {
    for await (const line of lines(answer, idle.touch)) yield eventIn<T>(line, path);
  } catch (cause) {
    signal.throwIfAborted();
    if (idle.isOver()) return client.doubt("idle");
    if (cause instanceof KubeError) throw cause;
    throw new KubeError(`watch ${path}`, { status: 0, reason: "connection lost" }, { cause });
  } finally {
    idle.stop();
    answer.destroy();
  }
}

const eventIn = <T extends KubeObject>(line: string, path: string): WatchEvent<T> => {
  const event = JSON.parse(line) as WatchEvent<T> | { type: "ERROR"; object: { code?: number; message?: string } };
  if (event.type !== "ERROR") return event;
  const { code = 500, message = "watch failed" } = event.object;
  throw new KubeError(`watch ${path}`, { status: code, reason: message });
};

const maxLineBytes = 16 * 1024 * 1024; // an object is at most 1.5 MiB in etcd, a few times that in JSON

/** Splits at newlines. A line that grows too long is an error, so that it cannot fill the memory. */
async function* lines(answer: IncomingMessage, onBytes: () => void): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    onBytes();
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)]).toString("utf8");
      rest = [];
      restBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
    restBytes += chunk.length - start;
    if (restBytes > maxLineBytes) throw new Error("an event is too large");
  }
}

const idleGuard = (answer: IncomingMessage, idleMs: number, endsInMs: number) => {
  let isOver = false;
  const end = (): void => {
    isOver = true;
    answer.destroy();
  };
  const idle = setTimeout(end, idleMs);
  const last = setTimeout(end, endsInMs);
  return {
    touch: () => void idle.refresh(),
    isOver: () => isOver,
    stop: () => {
      clearTimeout(idle);
      clearTimeout(last);
    },
  };
};

/** A time stretched at random by up to a `share` of it, so that many do not move in step. */
export const jittered = (ms: number, share: number): number => Math.round(ms * (1 + Math.random() * share));

/** Waits, or returns early when `signal` aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {});
