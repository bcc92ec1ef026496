import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { hasStatus } from "#core/runtime/kube/errors.ts";
import type { Cluster } from "../kit/cluster.ts";
import { metricsOf, valuesBy } from "../kit/metrics.ts";
import { type Pod, programOf, programPods } from "../kit/pods.ts";

/** Provider accounts of a channel that dispatchers send nothing to for now: the most that one of them has, and how many have some. */
export type OpenBreakers = { channel: string; mostOfOne: number; dispatchers: number };

/** What the dispatchers answered, and why some did not. */
export type Breakers = { open: OpenBreakers[]; left: string[] };

const podsAtOnce = 8;

/** Asks all dispatchers which accounts they have cut off; the channels with most come first. */
export const openBreakers = async (cluster: Cluster, signal: AbortSignal): Promise<Breakers> => {
  const { items, forbidden } = await programPods(cluster, null, signal);
  if (forbidden) return { open: [], left: ["You may not list Pods: open breakers are left out."] };
  const dispatchers = items.filter((pod) => programOf(pod) === "dispatcher");
  const answers = await mapBounded(dispatchers, podsAtOnce, (pod) =>
    metricsOf(cluster, pod, signal)
      .then((metrics) => ({ open: valuesBy(metrics, "herald_open_breakers", "channel"), left: null }))
      .catch((error: unknown) => ({ open: new Map<string, number>(), left: reasonOf(pod, error) })),
  );
  const left = answers.flatMap((answer) => answer.left ?? []);
  return { open: summed(answers.map(({ open }) => open)), left: [...new Set(left)] };
};

const reasonOf = ({ metadata }: Pod, error: unknown): string =>
  hasStatus(error, 403)
    ? "You may not read pods/proxy: open breakers are left out."
    : `${metadata.name} does not say its open breakers: ${error instanceof Error ? error.message : String(error)}`;

/** Each dispatcher cuts off by itself, so that the same account is counted by several. */
const summed = (all: readonly ReadonlyMap<string, number>[]): OpenBreakers[] => {
  const channels = new Set(all.flatMap((one) => [...one.keys()]));
  return [...channels]
    .map((channel) => {
      const counts = all.map((one) => one.get(channel) ?? 0);
      return { channel, mostOfOne: Math.max(...counts), dispatchers: counts.filter((count) => count > 0).length };
    })
    .filter(({ dispatchers }) => dispatchers > 0)
    .sort((a, b) => b.mostOfOne - a.mostOfOne);
};
