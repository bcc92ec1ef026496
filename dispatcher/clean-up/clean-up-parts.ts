import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { countAside } from "#core/runtime/metrics/queue.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { conversationRetention } from "#core/storage/conversations/retention.ts";
import { keptApps } from "#core/storage/events/retention.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { capTakes } from "#core/storage/messages/cap-takes.ts";
import { retention } from "#core/storage/messages/retention.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { namedLease } from "#core/storage/work/leases.ts";
import { removalOfApps } from "../work/kept-apps.ts";
import { capRemoval, capRemovalMs } from "./caps.ts";
import { keptConversations } from "./conversations.ts";
import { fileSweep } from "./files.ts";
import { purge } from "./retention.ts";

export type CleanUpPartsDeps = {
  db: Db;
  files: FileStore;
  holder: string;
  clock: Clock;
  log: Log;
  metrics: Metrics<"dispatcher">;
};

const leaseMs = 600_000; // longer than a page takes; another process goes on after it

/** What a dispatcher runs to remove what is kept no longer. */
export const cleanUpParts = ({ db, files, metrics, ...deps }: CleanUpPartsDeps): { parts: Part[]; timers: [] } => {
  const isOurs = (name: string): (() => Promise<boolean>) => {
    const lease = namedLease(db, { ...deps, name, leaseMs });
    return async () => (await lease.extend()) || (await lease.take()) !== null;
  };
  const removal = purge({
    ...deps,
    ...retention(db),
    plans: () => collectionOf<PlanRow>(db, planCollection).find().toArray(),
    isOurs: isOurs("purge"),
    setAside: countAside(metrics.queue, "retention"),
  });
  const caps = capRemoval({
    ...deps,
    ...capTakes(db),
    day: namedLease(db, { ...deps, name: "cap removal", leaseMs: capRemovalMs }),
  });
  const sweep = fileSweep({ ...deps, files, isOurs: isOurs("files") });
  const ofConversations = {
    ...deps,
    appsAfter: keptApps(db),
    isOurs: isOurs("conversations"),
    setAside: countAside(metrics.queue, "conversation-retention"),
  };
  const talks = removalOfApps(
    ofConversations,
    keptConversations({ ...ofConversations, ...conversationRetention(db, files) }),
  );
  const kept = [removal, caps, talks];
  return { parts: files.kind === "none" ? kept : [...kept, sweep], timers: [] };
};
