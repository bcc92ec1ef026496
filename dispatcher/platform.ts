import { linksPurpose } from "#core/channels/email/links.ts";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import { partitioning as partitioningOf } from "#core/domain/webhooks/partitions.ts";
import { announcer, changes } from "#core/queue/announce.ts";
import { type EventPublisherDeps, eventPublisher } from "#core/queue/events.ts";
import { inboxNotices } from "#core/queue/inbox-notices.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { subjects } from "#core/queue/subjects.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { watchDependencies } from "#core/runtime/metrics/dependencies.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import { type Check, healthServer } from "#core/runtime/process/health-server.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Tracer } from "#core/runtime/tracing/tracer.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import { contentTemplates } from "#core/storage/content-templates/content-templates.ts";
import { directory } from "#core/storage/directory.ts";
import type { FileSettings } from "#core/storage/files/open.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { type LinkRow, links } from "#core/storage/links/links.ts";
import type { Mongo } from "#core/storage/mongo/connect.ts";
import { filterFacts } from "#core/storage/segments/facts.ts";
import { suspension } from "#core/storage/suspension.ts";
import { usageCounter } from "#core/storage/usage/counter.ts";
import { tenantUsage } from "#core/storage/usage/tenant-usage.ts";
import { spreadIn } from "#core/storage/webhooks/places.ts";
import { guardedClient } from "./net/guarded/client.ts";
import { restTransports } from "./net/guarded/rest.ts";
import { http2Pool } from "./net/http2/pool.ts";
import { suppressions } from "./suppressions/open.ts";
import { peers } from "./work/peers.ts";
import { suspensions } from "./work/suspensions.ts";

/** What of the settings the parts need; `config/dispatcher.ts` describes each. */
export type Settings = FileSettings & {
  graceSeconds: number;
  natsPrefix: string;
  natsReplicas: number;
  eventPartitions: number;
  keyRing: string;
  lostKeys: readonly string[];
  healthHost: string;
  healthPort: number;
  unsavedLimit: number;
  openChunks: number;
  openJobs: number;
  exportHours: number;
  apnsUrl: string;
  apnsSandboxUrl: string;
  apnsChannelsUrl: string;
  apnsSandboxChannelsUrl: string;
  fcmUrl: string;
  hmsUrl: string;
  hmsOauthUrl: string;
  twilioUrl: string;
  twilioContentUrl: string;
  vonageUrl: string;
  metaUrl: string;
  allowedRanges: readonly string[];
  mailUrl?: string;
  mailFrom?: string;
  allowedPorts: readonly number[];
};

export type Made = {
  config: Settings;
  mongo: Mongo;
  /** Where exports and imports keep their files. */
  files: FileStore;
  nats: Nats;
  log: Log;
  metrics: Metrics<"dispatcher">;
  tracer: Tracer;
  clock: Clock;
  random: Random;
  timing: Timing;
  /** Unique to this process: it names the leases it holds. */
  holder: string;
};

/** What the folders of a dispatcher may use, beside what is made for the whole program. */
export const platform = (made: Made) => {
  const { config, mongo, nats, tracer, clock, log } = made;
  const [stopping, cut] = [new AbortController(), new AbortController()];
  const names = subjects(config.natsPrefix);
  const partitioning = partitioningOf(config.eventPartitions);
  const news = changes({ nats, subjects: names });
  const hints = publisher(nats, tracer);
  const secrets = keyRing(config.keyRing);
  const settings = directory({ db: mongo.db, changes: news, clock });
  return {
    ...made,
    db: mongo.db,
    natsPrefix: config.natsPrefix,
    natsReplicas: config.natsReplicas,
    subjects: names,
    partitioning,
    changes: news,
    directory: settings,
    suspensions: suspensions({
      suspension: suspension(mongo.db),
      changes: news,
      onError: (err) => log.warn({ err }, "suspensions.not_read"),
      clock,
    }),
    publisher: hints,
    peers: peers(),
    ...counting(made, { publisher: hints, subjects: names, partitioning, spreadOf: spreadIn(settings) }),
    announcer: announcer({ nats, subjects: names }),
    noticeInboxes: inboxNotices({ nats, subjects: names }),
    open: http2Pool,
    client: guardedClient({ guard: addressGuard({ allow: config.allowedRanges, ports: config.allowedPorts }) }),
    rest: restTransports(),
    publicUrl: config.publicUrl,
    exportHours: config.exportHours,
    urls: urlsOf(config),
    keepLink: linkKeeper(mongo.db),
    contentTemplates: contentTemplates(mongo.db),
    mail: mailOf(config),
    secrets,
    unseal: secrets.open,
    linkSigner: secrets.signer(linksPurpose),
    factsOf: filterFacts({ db: mongo.db, secrets, clock }),
    suppressions: suppressions({ db: mongo.db, secrets, clock, noteDoubted: noteDoubtedBy(made) }),
    graceMs: config.graceSeconds * 1_000,
    /** Aborts when nothing new is to be begun. */
    stopping: stopping.signal,
    /** Aborts when the grace is over. */
    cut: cut.signal,
    halt: (graceIsOver: AbortSignal) => {
      stopping.abort();
      graceIsOver.addEventListener("abort", () => cut.abort(), { once: true });
    },
  };
};

/** Counts what tenants do, and publishes events, which is counted, too. */
const counting = ({ mongo, clock, log }: Made, publishing: Omit<EventPublisherDeps, "published">) => {
  const usage = usageCounter({ rows: tenantUsage(mongo.db), clock, log });
  const published = (tenantId: string, events: number): void => usage.count(tenantId, { events });
  return { usage, countUsage: usage.count, events: eventPublisher({ ...publishing, published }) };
};

/** Links that come at once share a write. */
const linkKeeper = (db: Mongo["db"]) => {
  const { keep } = links(db);
  const write = async (rows: readonly LinkRow[]): Promise<unknown[]> => {
    const known = await keep(rows);
    return rows.map(({ _id }) => known.has(_id));
  };
  return gather<LinkRow, unknown>({ write, most: 100, inFlight: 2 });
};

const mailOf = ({ mailUrl: url, mailFrom: from }: Settings): { url: string; from: string } | null =>
  url === undefined || from === undefined ? null : { url, from };

/** Answers from the first moment on; `started` says whether the rest works. */
export const health = (
  { config, mongo, files, metrics }: Pick<Made, "config" | "mongo" | "files" | "metrics">,
  { jetstream, started }: Record<"jetstream" | "started", Check>,
): Part => {
  const stores = { mongodb: mongo.ping, jetstream };
  const optional = files.kind === "none" ? {} : { files: files.check }; // exports and imports wait for them
  watchDependencies(metrics.registry, { ...stores, ...optional });
  const checks = { ...stores, started };
  return healthServer({
    host: config.healthHost,
    port: config.healthPort,
    checks,
    optional,
    registry: metrics.registry,
  });
};

/** Counts addresses that were called gone and not believed to be. */
const noteDoubtedBy =
  ({ metrics }: Pick<Made, "metrics">) =>
  (channel: Channel): void =>
    metrics.invalidationsHeld.inc({ channel });

/** Where providers are. */
const urlsOf = (config: Made["config"]) => ({
  apns: { production: config.apnsUrl, sandbox: config.apnsSandboxUrl },
  apnsChannels: { production: config.apnsChannelsUrl, sandbox: config.apnsSandboxChannelsUrl },
  fcm: config.fcmUrl,
  hms: { push: config.hmsUrl, oauth: config.hmsOauthUrl },
  twilio: config.twilioUrl,
  twilioContent: config.twilioContentUrl,
  vonage: config.vonageUrl,
  meta: config.metaUrl,
});
