import type { Directory } from "#core/storage/directory.ts";
import type { Inboxes } from "#core/storage/inbox/inboxes.ts";
import type { Devices, Proof } from "#core/storage/people/devices.ts";
import type { People } from "./people.ts";
import type { Open } from "./stream.ts";

export type CheckDeps = {
  /** Those that are open: one that closes meanwhile is in it no more. */
  streams: ReadonlySet<Open>;
  people: People;
  inboxes: Pick<Inboxes, "revisions">;
  devices: Pick<Devices, "proofs">;
  directory: Pick<Directory, "app" | "tenant">;
  end: (one: Open) => void;
};

/**
 * Looks at open streams: ends those whose secret is none any more or whose organisation is suspended, shows the inbox of
 * another person to a subscription that is theirs by now, and all of an inbox to one that has proven to be its person's, and
 * finds changes of which no notice came.
 */
export const checkStreams =
  (deps: CheckDeps) =>
  async (stop: AbortSignal): Promise<void> => {
    const { streams, people, inboxes, devices } = deps;
    const ofDevice = Map.groupBy(streams, ({ subscriptionId }) => subscriptionId);
    for (const ids of parts([...ofDevice.keys()])) {
      if (stop.aborted) return;
      const proofs = await devices.proofs(ids);
      for (const one of ids.flatMap((id) => ofDevice.get(id) ?? [])) {
        const proof = proofs.get(one.subscriptionId);
        if (!streams.has(one)) continue; // closed while the proofs were read: nobody would stop watching for it
        if (proof?.secretHash !== one.secretHash) deps.end(one);
        else if (proof.userId !== one.userId) move(one, proof, people);
        else if (one.from !== null && proof.unprovenSince === null) move(one, proof, people);
      }
    }
    await endSuspended(deps);
    for (const ids of parts([...people.all().keys()])) {
      if (stop.aborted) return;
      const stored = await inboxes.revisions(ids);
      for (const id of ids) if (people.all().get(id)?.revision !== (stored.get(id) ?? 0)) people.refresh(id);
    }
  };

const mostAtOnce = 500;

const parts = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / mostAtOnce) }, (_, i) => ids.slice(i * mostAtOnce, (i + 1) * mostAtOnce));

const move = (one: Open, { userId, unprovenSince: from }: Proof, people: People): void => {
  people.unwatch(one);
  Object.assign(one, { userId, from, isGreeted: false, isBehind: true, isMoved: true });
  people.watch(one);
  people.refresh(userId);
};

const endSuspended = async ({ streams, directory, end }: CheckDeps): Promise<void> => {
  for (const [appId, ofApp] of Map.groupBy(streams, (one) => one.appId)) {
    const app = await directory.app(appId);
    const tenant = app === null ? null : await directory.tenant(app.tenant_id);
    if (tenant === null || tenant.suspended) ofApp.forEach(end);
  }
};
