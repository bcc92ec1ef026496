import { randomUUID } from "node:crypto";
import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/log.ts";
import type { KubeClient } from "../kube/client.ts";
import { isConflict, isNotFound } from "../kube/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import { pause } from "../kube/watch.ts";

/** The durations of client-go. A leader that could not renew for `renewMs` stops before others may take over. */
export const leaseTiming = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 } as const;
export type LeaseTiming = { leaseMs: number; renewMs: number; retryMs: number };

export type LeaderDeps = {
  client: KubeClient;
  namespace: string;
  name: string;
  holder: string;
  timing: LeaseTiming;
  clock: Clock;
  log: Log;
  onChange: (isLeader: boolean) => void;
};

type LeaseSpec = {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
};
type Lease = KubeObject & { spec?: LeaseSpec };

/** A name for this process that no other has. */
export const holderName = (host: string): string => `${host}_${randomUUID()}`;

/** `stop`: take no more work and finish what is in hand. `lost`: write nothing more, at once. */
export type Term = { stop: AbortSignal; lost: AbortSignal };

/**
 * Runs `lead` whenever this process holds the Lease and campaigns again afterwards. When `signal` aborts, `lead` may
 * finish while the Lease still lasts; then the Lease is given back.
 */
export const campaign = async (
  deps: LeaderDeps,
  lead: (term: Term) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { log, timing, holder, onChange } = deps;
  const attempt = acquirer(deps);
  while (!signal.aborted) {
    if (!(await attempt(signal))) {
      await pause(jittered(timing.retryMs), signal);
      continue;
    }
    log.info({ holder }, "leadership.taken");
    onChange(true);
    const lost = new AbortController();
    const led = lead({ stop: AbortSignal.any([signal, lost.signal]), lost: lost.signal });
    await renew(deps, attempt, signal);
    const grace = setTimeout(() => lost.abort(new Error("leadership lost")), signal.aborted ? timing.renewMs / 2 : 0);
    await led;
    clearTimeout(grace);
    onChange(false);
    log.info({ holder, isStopping: signal.aborted }, "leadership.ended");
    if (signal.aborted) await release(deps);
  }
};

/** Returns when the Lease could not be renewed in time, or when `signal` aborts. */
const renew = async (deps: LeaderDeps, attempt: Attempt, signal: AbortSignal): Promise<void> => {
  let renewedAt = Date.now();
  while (!signal.aborted && Date.now() - renewedAt < deps.timing.renewMs) {
    await pause(deps.timing.retryMs, signal);
    if (signal.aborted) return;
    const left = Math.max(1, deps.timing.renewMs - (Date.now() - renewedAt));
    const startedAt = Date.now();
    if (await attempt(AbortSignal.any([signal, AbortSignal.timeout(left)]))) renewedAt = startedAt;
  }
};

type Attempt = (signal: AbortSignal) => Promise<boolean>;

/** Takes the Lease or extends it; false when another has it or the API cannot be reached. */
const acquirer = (deps: LeaderDeps): Attempt => {
  const { client, timing, holder, log } = deps;
  // Another's Lease counts as expired when it has not changed for its duration by our own clock: clocks may differ.
  let seen = { version: "", at: 0 };
  const mayTake = (lease: Lease): boolean => {
    const { holderIdentity = "", leaseDurationSeconds = timing.leaseMs / 1000 } = lease.spec ?? {};
    if (holderIdentity === "" || holderIdentity === holder) return true;
    if (seen.version !== lease.metadata.resourceVersion)
      seen = { version: lease.metadata.resourceVersion, at: Date.now() };
    return Date.now() - seen.at >= leaseDurationSeconds * 1000;
  };
  return async (signal) => {
    try {
      const lease = await client.call<Lease>({ method: "GET", path: leasePath(deps) }, signal).catch(absent);
      if (lease === null) {
        await client.call({ method: "POST", path: leasesPath(deps), body: newLease(deps) }, signal);
        return true;
      }
      if (!mayTake(lease)) return false;
      await client.call({ method: "PUT", path: leasePath(deps), body: { ...lease, spec: held(deps, lease) } }, signal);
      return true;
    } catch (error) {
      if (!signal.aborted && !isConflict(error)) log.warn({ error: String(error) }, "lease.unreachable");
      return false;
    }
  };
};

const absent = (error: unknown): null => {
  if (isNotFound(error)) return null;
  throw error;
};

const leasesPath = ({ namespace }: LeaderDeps): string => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const leasePath = (deps: LeaderDeps): string => `${leasesPath(deps)}/${deps.name}`;

const newLease = (deps: LeaderDeps): object => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: deps.name, namespace: deps.namespace },
  spec: held(deps, null),
});

const held = ({ holder, timing, clock }: LeaderDeps, lease: Lease | null): LeaseSpec => {
  const now = microTime(clock.now());
  const isOurs = lease?.spec?.holderIdentity === holder;
  const transitions = lease?.spec?.leaseTransitions ?? 0;
  return {
    holderIdentity: holder,
    leaseDurationSeconds: Math.max(1, Math.round(timing.leaseMs / 1000)),
    acquireTime: isOurs ? (lease.spec?.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: isOurs || lease === null ? transitions : transitions + 1,
  };
};

/** Gives the Lease back, so that another need not wait for its end; within 2 s, or not at all. */
const release = async (deps: LeaderDeps): Promise<void> => {
  const signal = AbortSignal.timeout(2_000);
  try {
    const lease = await deps.client.call<Lease>({ method: "GET", path: leasePath(deps) }, signal);
    if (lease.spec?.holderIdentity !== deps.holder) return;
    const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(deps.clock.now()) };
    await deps.client.call({ method: "PUT", path: leasePath(deps), body: { ...lease, spec } }, signal);
  } catch (error) {
    deps.log.warn({ error: String(error) }, "lease.kept");
  }
};

const microTime = (at: Date): string => at.toISOString().replace("Z", "000Z");

const jittered = (ms: number): number => Math.round(ms * (1 + Math.random() / 5));
