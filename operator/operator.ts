import { once } from "node:events";
import { type ControllersDeps, makeControllers } from "./controllers.ts";
import type { Controller } from "./engine/controller.ts";
import type { LeaderDeps } from "./engine/leadership/candidacy.ts";
import type { TermFence } from "./engine/leadership/fence.ts";
import { campaign, type Term } from "./engine/leadership/leader.ts";
import type { TendKeys } from "./keys/tend.ts";
import { isLookedAt } from "./kube/scope.ts";
import { pause } from "./kube/watch.ts";
import type { Terms } from "./terms.ts";
import type { Measure } from "./usage/measure.ts";
import type { TendVersions } from "./versions/tend.ts";

export type OperatorDeps = ControllersDeps & {
  lease: Pick<LeaderDeps, "namespace" | "name" | "holder" | "timing">;
  fence: TermFence;
  /** Reads what tenants use, for as long as this process leads. */
  measure: Measure;
  /** Seals stored secrets under the newest key, for as long as this process leads. */
  tendKeys: TendKeys;
  /** Has what Kubernetes stores be of the version that is stored now, for as long as this process leads. */
  tendVersions: TendVersions;
  terms: Terms;
};

export type Operator = ReturnType<typeof operator>;

/** The operator. It always watches, so that it can take over at once, and writes only while it has the Lease. */
export const operator = (deps: OperatorDeps) => {
  const { controllers, watches: others, requeue } = makeControllers(deps);
  const sources = [...controllers, ...others];
  const watching = new AbortController();
  const leading = new AbortController();
  let watches: Promise<unknown> = Promise.resolve();
  let led: Promise<unknown> = Promise.resolve();
  let isSynced = false;
  let leader = { isLeader: false, holder: "" };
  const sync = async (): Promise<void> => {
    await Promise.all(sources.map(({ synced }) => synced));
    isSynced = true;
  };
  const onChange: LeaderDeps["onChange"] = (state) => {
    leader = state;
    deps.metrics.leader.set({ name: deps.lease.name }, Number(state.isLeader));
  };

  return {
    name: "operator",
    /** Whether everything has been listed once. */
    isSynced: (): boolean => isSynced,
    /** Who holds the Lease, as far as is known. */
    leader: (): { isLeader: boolean; holder: string } => leader,
    /** Whether this process leads and has decided about every resource: none waits, and none is to be tried again. */
    isSettled: (): boolean => controllers.every((one) => one.isSettled()),
    start: async () => {
      watches = Promise.all(sources.map(({ watch }) => watch(watching.signal)));
      led = leadWhen(sync(), { ...deps, controllers, requeue, onChange }, leading.signal);
    },
    stop: async () => {
      leading.abort(new Error("the operator is stopping"));
      await led; // what is under way ends, then the Lease is given back
      watching.abort(new Error("the operator is stopping"));
      await watches;
      deps.client.close();
    },
  };
};

type LeadDeps = OperatorDeps & {
  controllers: readonly Controller[];
  requeue: (kind: string, key: string) => void;
  onChange: LeaderDeps["onChange"];
};

/** Begins to lead after everything has been listed once: what is not listed yet would look deleted. */
const leadWhen = async (synced: Promise<void>, deps: LeadDeps, signal: AbortSignal): Promise<void> => {
  await Promise.race([synced, signal.aborted || once(signal, "abort")]);
  const { highestEpoch } = deps.terms;
  await campaign({ ...deps, ...deps.lease, highestEpoch }, (term) => lead(deps, term), signal);
};

/** One term. First all documents get its epoch, so that no former leader can write them any more. */
const lead = async (deps: LeadDeps, term: Term): Promise<void> => {
  deps.fence.enter(term);
  while (!term.stop.aborted && !(await stamped(deps, term))) await pause(deps.lease.timing.retryMs, term.stop);
  const outdated = new AbortController();
  const rest = { ...term, stop: AbortSignal.any([term.stop, outdated.signal]) };
  const sweeping = sweepOften(deps, rest, () => outdated.abort());
  const measuring = deps.measure((key) => deps.requeue("Tenant", key), rest.stop);
  const tending = [deps.tendKeys(rest.stop), deps.tendVersions(rest.stop)];
  await Promise.all([...deps.controllers.map((one) => one.lead(rest)), sweeping, measuring, ...tending]);
};

const stamped = async ({ terms, log }: LeadDeps, { epoch }: Term): Promise<boolean> => {
  try {
    await terms.stamp(epoch);
    return true;
  } catch (err) {
    log.warn({ err }, "term.not_begun");
    return false;
  }
};

/**
 * Sweeps as often as everything is listed. Documents of a later term, e.g. from a backup, end this one: they need a
 * later term still.
 */
const sweepOften = async (deps: LeadDeps, { epoch, stop }: Term, onOutdated: () => void): Promise<void> => {
  const { terms, platform, timing, scope, log } = deps;
  for (;;) {
    await pause(timing.relistMs, stop);
    if (stop.aborted) return;
    const uids = new Set(
      [...platform.stores.byKind.values()].flatMap((store) => [...store.all()].map(({ metadata }) => metadata.uid)),
    );
    try {
      await terms.sweep(epoch, { isKnown: (uid) => uids.has(uid), isLookedAt: (of) => isLookedAt(scope, of) });
      if ((await terms.highestEpoch()) > epoch) return onOutdated();
    } catch (err) {
      log.warn({ err }, "sweep.failed");
    }
  }
};
