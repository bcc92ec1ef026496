import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Directory } from "#core/storage/directory.ts";
import { inboxes } from "#core/storage/inbox/inboxes.ts";
import { devices } from "#core/storage/people/devices.ts";
import type { LateNats } from "../../publishing/late-nats.ts";
import { type InboxStreams, inboxStreams } from "./streams.ts";

export type OpenStreamsDeps = {
  db: Db;
  nats: Pick<LateNats, "listen">;
  subjects: Pick<Subjects, "inboxNotices">;
  directory: Pick<Directory, "app" | "tenant">;
  mostStreams: number;
  clock: Clock;
  log: Log;
  metrics: Pick<ApiserverMetrics, "inboxStreams">;
};

/** The streams of inboxes of this process. */
export const openInboxStreams = (deps: OpenStreamsDeps): InboxStreams => {
  const { db, nats, subjects, mostStreams, metrics, log } = deps;
  return inboxStreams({
    ...deps,
    inboxes: inboxes(db),
    devices: devices(db),
    listen: (userId, listener) => nats.listen(subjects.inboxNotices(userId), listener),
    most: mostStreams,
    count: (open) => metrics.inboxStreams.set(open),
    random: Math.random,
    onError: (err) => log.warn({ err }, "inbox_streams.not_read"),
  });
};
