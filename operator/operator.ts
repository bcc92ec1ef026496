import type { Part } from "#core/runtime/lifecycle.ts";
import { campaign, type LeaderDeps, type Term } from "./engine/leader.ts";
import { type Controllers, type KindsDeps, makeControllers, watchEndpoints, watchSecrets } from "./kinds.ts";

export type OperatorDeps = KindsDeps & { lease: Pick<LeaderDeps, "namespace" | "name" | "holder" | "timing"> };

/** The operator: it watches always, so that it can take over at once, and writes only while it holds the Lease. */
export const operator = (deps: OperatorDeps): Part & { isSynced: () => boolean } => {
  const controllers = makeControllers(deps);
  const secrets = watchSecrets(deps, controllers);
  watchEndpoints(deps, controllers);
  const sources = [...Object.values(controllers), secrets];
  const watching = new AbortController();
  const leading = new AbortController();
  let watches: Promise<unknown> = Promise.resolve();
  let led: Promise<unknown> = Promise.resolve();
  let isSynced = false;
  const sync = async (): Promise<void> => {
    await Promise.all(sources.map(({ synced }) => synced));
    isSynced = true;
  };

  return {
    name: "operator",
    isSynced: () => isSynced,
    start: async () => {
      watches = Promise.all(sources.map(({ watch }) => watch(watching.signal)));
      led = leadWhen(sync(), deps, controllers, leading.signal);
    },
    stop: async () => {
      leading.abort(new Error("the operator is stopping"));
      await led; // what is in hand ends, then the Lease is given back
      watching.abort(new Error("the operator is stopping"));
      await watches;
      deps.client.close();
    },
  };
};

/** Nothing is decided before everything has been seen once: what is not seen yet would look deleted. */
const leadWhen = async (
  synced: Promise<void>,
  deps: OperatorDeps,
  controllers: Controllers,
  signal: AbortSignal,
): Promise<void> => {
  await Promise.race([synced, aborted(signal)]);
  const onChange = (isLeader: boolean): void => deps.metrics.leader.set({ name: deps.lease.name }, Number(isLeader));
  const lead = async (term: Term): Promise<void> => {
    await Promise.all(Object.values(controllers).map((one) => one.lead(term)));
  };
  await campaign({ ...deps, ...deps.lease, onChange }, lead, signal);
};

const aborted = (signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
};
