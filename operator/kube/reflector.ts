import type { KubeClient } from "#core/runtime/kube/client.ts";
import { isGone, KubeError } from "#core/runtime/kube/errors.ts";
import { type KubeObject, trimmed } from "#core/runtime/kube/objects.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Part } from "./scope.ts";
import type { Store, StoreEvent } from "./store.ts";
import { jittered, pause, watch } from "./watch.ts";

/** Both are stretched by up to a half, so that many reflectors do not move in step. */
export type ReflectorTiming = {
  /** After this long the whole collection is listed again, and every object is looked at again. */
  relistMs: number;
  /** A watch that is silent for this long is opened anew. */
  idleMs: number;
};

export type Accept = { list: string; watch: string };

export type ReflectorDeps<T extends KubeObject> = {
  client: KubeClient;
  /** Collection, e.g. `/apis/herald.dev/v1alpha1/apps`. */
  path: string;
  /** Only these objects of the collection; `isWithin` says the same of an object that the store has. */
  fieldSelector?: string;
  isWithin?: Part["isWithin"];
  /** Asks for another form than whole objects. */
  accept?: Accept;
  labelSelector?: string | undefined;
  store: Store<T>;
  /** Cuts an object down to what is worth keeping in memory; not given: {@link trimmed}. */
  trim?: (object: T) => T;
  onEvents: (events: readonly StoreEvent<T>[]) => void;
  /** Called whenever a watch has ended. */
  onRestart: (reason: "end" | "gone" | "error") => void;
  timing: ReflectorTiming;
  /** Objects in one answer of a list. */
  pageSize?: number;
  log: Log;
};

/**
 * Keeps a store like a collection of the Kubernetes API, by a list and then a watch, for as long as `signal` lets it.
 * `synced` resolves after the first whole list.
 */
export const reflector = <T extends KubeObject>(deps: ReflectorDeps<T>) => {
  const { client, path, store, timing, log, trim = trimmed, accept = wholeObjects, pageSize = fewPages } = deps;
  const source: Source = { client, path, accept, pageSize, filter: filterOf(deps) };
  const { promise: synced, resolve: markSynced } = Promise.withResolvers<void>();
  let position: string | null = null; // null: nothing to resume from
  let relistAt = 0; // by `performance.now()`, as every time here
  let failures = 0;

  const list = async (signal: AbortSignal): Promise<void> => {
    const { version, items } = await listAll(source, trim, signal);
    deps.onEvents(store.replace(items, deps.isWithin));
    position = version;
    relistAt = performance.now() + jittered(timing.relistMs, 1 / 2);
    failures = 0;
    markSynced();
  };

  const follow = async (from: string, signal: AbortSignal): Promise<void> => {
    const openedAt = performance.now();
    const endsInMs = Math.max(1, relistAt - openedAt);
    const options = { ...source, accept: accept.watch, from, idleMs: jittered(timing.idleMs, 1 / 2), endsInMs };
    for await (const { type, object } of watch<T>(options, signal)) {
      if (type === "DELETED") deps.onEvents(store.remove(trim(object)));
      else if (type !== "BOOKMARK") deps.onEvents(store.put(trim(object)));
      position = object.metadata.resourceVersion;
      failures = 0;
    }
    deps.onRestart("end");
    if (performance.now() - openedAt < 1000) failures++; // a watch that closes at once must not become a busy loop
  };

  const step = (signal: AbortSignal): Promise<void> =>
    position === null || performance.now() >= relistAt ? list(signal) : follow(position, signal);

  const onError = (error: unknown): number => {
    failures++;
    if (isGone(error)) position = null;
    deps.onRestart(isGone(error) ? "gone" : "error");
    log.warn({ path, failures, error: String(error) }, "watch.interrupted");
    return Math.max(backoffMs(failures), retryAfterMs(error));
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const waitMs = await step(signal).then(
        () => (failures > 0 ? backoffMs(failures) : 0),
        (error: unknown) => (signal.aborted ? 0 : onError(error)),
      );
      if (waitMs > 0) await pause(waitMs, signal);
    }
  };

  return { run, synced };
};

/** A reflector for each part of a collection; `synced` resolves when all have been listed. */
export const reflectors = <T extends KubeObject>(deps: Omit<ReflectorDeps<T>, keyof Part>, parts: readonly Part[]) => {
  const all = parts.map((part) => reflector({ ...deps, ...part }));
  return {
    watch: (signal: AbortSignal): Promise<unknown> => Promise.all(all.map(({ run }) => run(signal))),
    synced: Promise.all(all.map(({ synced }) => synced)),
  };
};

type Source = { client: KubeClient; path: string; accept: Accept; pageSize: number; filter: string };

const filterOf = ({ labelSelector, fieldSelector }: Pick<ReflectorDeps<never>, "labelSelector" | "fieldSelector">) =>
  Object.entries({ labelSelector, fieldSelector })
    .map(([name, value]) => (value === undefined ? "" : `${name}=${encodeURIComponent(value)}&`))
    .join("");

const wholeObjects: Accept = { list: "application/json", watch: "application/json" };

type Page<T> = { metadata: { resourceVersion: string; continue?: string }; items: T[] | null };

const fewPages = 2_000; // some 6 MB; a resync of 10,000 resources costs the API server a request a page

/**
 * Reads a collection by pages. When the API server no longer has a page (410: the list took too long) the list fails,
 * and the next one starts anew.
 */
const listAll = async <T>(
  { client, path, accept, pageSize, filter }: Source,
  trim: (object: T) => T,
  signal: AbortSignal,
): Promise<{ version: string; items: T[] }> => {
  const items: T[] = [];
  let token = "";
  for (;;) {
    const query = `${filter}limit=${pageSize}${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`;
    const page = await client.call<Page<T>>({ method: "GET", path: `${path}?${query}`, accept: accept.list }, signal);
    items.push(...(page.items ?? []).map(trim)); // null: an empty list of metadata
    token = page.metadata.continue ?? "";
    if (token === "") return { version: page.metadata.resourceVersion, items };
  }
};

/** 100 ms doubling to 15 s, with jitter: at most 30 s. */
const backoffMs = (failures: number): number =>
  jittered(Math.min(15_000, 100 * 2 ** Math.min(failures - 1, 10)), 1 / 2);

const retryAfterMs = (error: unknown): number => (error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0);
