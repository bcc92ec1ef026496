import type { Clock } from "#core/domain/clock.ts";
import type { LeaderTiming } from "#core/domain/timing.ts";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import type { KubeObject } from "#core/runtime/kube/objects.ts";
import { type WatchEvent, watch } from "../../kube/watch.ts";

export type LeaseDeps = {
  client: KubeClient;
  namespace: string;
  name: string;
  holder: string;
  timing: LeaderTiming;
  clock: Clock;
};

export type LeaseSpec = {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  /** The epoch of the term. It grows by at least one whenever a process takes the Lease. */
  leaseTransitions?: number;
};
export type Lease = KubeObject & { spec?: LeaseSpec };

export type LeaseApi = ReturnType<typeof leaseApi>;

/** Calls about one Lease. Every write fails with 409 when the Lease has changed since it was read. */
export const leaseApi = ({ client, namespace, name, holder, timing, clock }: LeaseDeps) => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const filter = `fieldSelector=metadata.name%3D${name}&`;
  const now = (): string => clock.now().toISOString().replace("Z", "000Z"); // Kubernetes' MicroTime
  const put = (lease: Lease, spec: LeaseSpec, signal: AbortSignal): Promise<Lease> => {
    const body = { ...lease, spec: { ...lease.spec, ...spec } };
    return client.call<Lease>({ method: "PUT", path: `${path}/${name}`, body, isUrgent }, signal);
  };
  return {
    /** The Lease, or null when there is none, and the version to follow it from. */
    read: async (signal: AbortSignal): Promise<{ lease: Lease | null; version: string }> => {
      const query = `${filter}limit=1`;
      const list = await client.call<LeaseList>({ method: "GET", path: `${path}?${query}`, isUrgent }, signal);
      return { lease: list.items[0] ?? null, version: list.metadata.resourceVersion };
    },
    take: async (lease: Lease | null, epoch: number, signal: AbortSignal): Promise<Lease> => {
      const leaseDurationSeconds = Math.max(1, Math.round(timing.leaseMs / 1000));
      const times = { leaseDurationSeconds, acquireTime: now(), renewTime: now() };
      const spec: LeaseSpec = { holderIdentity: holder, ...times, leaseTransitions: epoch };
      if (lease !== null) return put(lease, spec, signal);
      const kind = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
      const metadata = { name, namespace, ownerReferences: await owners(client, namespace, signal) };
      return client.call<Lease>({ method: "POST", path, body: { ...kind, metadata, spec }, isUrgent }, signal);
    },
    renew: (lease: Lease, signal: AbortSignal): Promise<Lease> => put(lease, { renewTime: now() }, signal),
    /** Others may take it at once. */
    release: (lease: Lease, signal: AbortSignal): Promise<Lease> =>
      put(lease, { holderIdentity: "", leaseDurationSeconds: 1, renewTime: now() }, signal),
    changes: (from: string, signal: AbortSignal): AsyncGenerator<WatchEvent<Lease>> =>
      watch<Lease>(
        { client, path, accept: "application/json", filter, from, idleMs: watchMs, endsInMs: watchMs },
        signal,
      ),
  };
};

/**
 * The operator's ServiceAccount, with which the Lease is deleted; none when the operator runs with a person's
 * certificate.
 */
const owners = async (client: KubeClient, namespace: string, signal: AbortSignal): Promise<object[]> => {
  const kind = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  // a Lease without an owner is better than none
  const us = await client.call<Review>({ method: "POST", path, body: kind }, signal).catch(() => null);
  const { username = "", uid = "" } = us?.status.userInfo ?? {};
  const account = `system:serviceaccount:${namespace}:`;
  if (!username.startsWith(account) || uid === "") return [];
  return [{ apiVersion: "v1", kind: "ServiceAccount", name: username.slice(account.length), uid }];
};

type Review = { status: { userInfo: { username?: string; uid?: string } } };

type LeaseList = { metadata: { resourceVersion: string }; items: Lease[] };

/** A renewal that waits behind the process's other writes could come too late for the term. */
const isUrgent = true;

const watchMs = 600_000; // the timer of who waits for the Lease ends sooner
