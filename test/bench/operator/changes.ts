import { setTimeout as sleep } from "node:timers/promises";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import type { KubeObject, Resource } from "#core/runtime/kube/objects.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { Condition } from "#core/schema/kubernetes/common.ts";
import { reflector } from "../../../operator/kube/reflector.ts";
import { objectStore, type Store } from "../../../operator/kube/store.ts";
import { soon } from "../servers.ts";
import { changes } from "./resources.ts";

/** Changes resources and takes the time until their status tells of the change. */
export type Changer = {
  /** Changes one resource after another, of all kinds by their share; the times taken in ms, sorted. */
  times: (everyMs: number, isOver: (made: number) => boolean) => Promise<number[]>;
  /** Changes one resource; resolves when its status tells of it, with the time taken. */
  one: () => Promise<number>;
  /** Whether every resource is ready, in its newest generation. */
  areReady: () => boolean;
  close: () => Promise<void>;
};

type Seen = Resource<unknown, { observedGeneration?: number; conditions?: Condition[] }>;
type Target = { plural: string; path: string };
/** By uid, what its status said last, and whoever waits to hear more. */
type Statuses = { seen: Map<string, { generation: number; at: number }>; waiting: Map<string, () => void> };

const group = "/apis/herald.dev/v1alpha1";
const stride = 7919; // a prime: one change after another is made far from the one before
const watchMs = 3_600_000; // longer than any measurement
const withinMs = 120_000;

/** Follows every kind from now on, as `kubectl wait` does one resource. */
export const changer = async (client: KubeClient): Promise<Changer> => {
  const over = new AbortController();
  const statuses: Statuses = { seen: new Map(), waiting: new Map() };
  const kinds = Object.keys(changes).map((plural) => ({ plural, ...follow(client, plural, statuses) }));
  const watches = kinds.map(({ run }) => run(over.signal));
  await Promise.all(kinds.map(({ synced }) => synced));
  const targets = kinds.flatMap(({ plural, store }) => [...store.all()].map((object) => targetOf(plural, object)));
  let made = 0;
  const one = async (): Promise<number> => {
    const { plural, path } = targets[(made++ * stride) % targets.length] as Target; // sound: there are some
    const startedAt = performance.now();
    const body = { spec: changes[plural]?.(`bench-${made}`) };
    const { metadata } = await client.call<Seen>({ method: "PATCH", path, body }, soon());
    return (await seenTo(statuses, metadata)) - startedAt;
  };
  return {
    one,
    areReady: () => kinds.every(({ store }) => [...store.all()].every(isReady)),
    times: async (everyMs, isOver) => {
      const taken: Promise<number>[] = [];
      while (!isOver(taken.length)) {
        const time = one();
        time.catch(() => {}); // it is awaited below, when all have ended
        taken.push(time);
        await sleep(everyMs);
      }
      return (await Promise.all(taken)).sort((a, b) => a - b);
    },
    close: async () => {
      over.abort();
      await Promise.all(watches);
    },
  };
};

/** Of a sorted list. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

const isReady = ({ metadata, status }: Seen): boolean =>
  status?.observedGeneration === metadata.generation &&
  (status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false);

const targetOf = (plural: string, { metadata: { namespace, name } }: KubeObject): Target => ({
  plural,
  path: `${group}/${namespace === undefined ? "" : `namespaces/${namespace}/`}${plural}/${name}`,
});

const follow = (client: KubeClient, plural: string, { seen, waiting }: Statuses) => {
  const store: Store<Seen> = objectStore();
  const { run, synced } = reflector<Seen>({
    client,
    path: `${group}/${plural}`,
    store,
    onEvents: (events) => {
      for (const { kind, object } of events) {
        if (kind !== "changed") continue;
        seen.set(object.metadata.uid, { generation: object.status?.observedGeneration ?? 0, at: performance.now() });
        waiting.get(object.metadata.uid)?.();
      }
    },
    onRestart: () => {},
    timing: { relistMs: watchMs, idleMs: watchMs },
    log: createLog({ program: "bench", level: "error" }),
  });
  return { store, run, synced };
};

/** When the status showed a generation; it may have done so before we know of our own change. */
const seenTo = async (
  { seen, waiting }: Statuses,
  { uid, generation = 0 }: KubeObject["metadata"],
): Promise<number> => {
  const endsAt = performance.now() + withinMs;
  for (;;) {
    const last = seen.get(uid);
    if (last !== undefined && last.generation >= generation) return last.at;
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(uid, resolve);
    await Promise.race([promise, sleep(endsAt - performance.now(), undefined, { ref: false })]);
    waiting.delete(uid);
    if (performance.now() >= endsAt) throw new Error(`generation ${generation} of ${uid} has not been seen to`);
  }
};
