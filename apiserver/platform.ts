import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Partitioning } from "#core/domain/webhooks/partitions.ts";
import { batchOutbox } from "#core/queue/batch-outbox.ts";
import { callbackQueue } from "#core/queue/callbacks.ts";
import { eventPublisher } from "#core/queue/events.ts";
import { outbox } from "#core/queue/outbox.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { dns } from "#core/runtime/http/resolve.ts";
import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import type { QueueMetrics } from "#core/runtime/metrics/queue.ts";
import { mjmlCompiler } from "#core/runtime/mjml/compiler.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { bodyTemplates } from "#core/runtime/templates/body-templates.ts";
import { contentTemplates } from "#core/runtime/templates/content/content-templates.ts";
import type { Directory } from "#core/storage/directory.ts";
import { eventBatches } from "#core/storage/events/batches.ts";
import { eventClaims } from "#core/storage/events/claims.ts";
import { events as storedEvents } from "#core/storage/events/events.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { type MessageRow, messageIsDone } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { usageCounter } from "#core/storage/usage/counter.ts";
import { tenantUsage } from "#core/storage/usage/tenant-usage.ts";
import { spreadIn } from "#core/storage/webhooks/places.ts";
import { cursors } from "./http/pages.ts";
import { openInboxStreams } from "./inbox/streams/open.ts";
import { narrowLimit, uncount } from "./limits/narrow-limit.ts";
import type { GiveBack, TakeFrom } from "./limits/take-token.ts";
import { waitingEvents } from "./limits/waiting-events.ts";
import { messageUseCases } from "./messages/use-cases.ts";
import { conversationOutbox } from "./publishing/conversation-outbox.ts";
import { eventStore } from "./publishing/event-store.ts";
import type { LateNats } from "./publishing/late-nats.ts";
import { messageHints } from "./publishing/message-hints.ts";
import { type PeopleOutboxDeps, peopleOutbox } from "./publishing/people-outbox.ts";
import { auditEvents } from "./settings/audit.ts";
import { openBoard, type StatusDeps } from "./status/open.ts";
import { whyUseCases } from "./why/use-cases.ts";

/** What the program has before any feature. */
export type Foundation = {
  db: Db;
  nats: LateNats;
  directory: Directory;
  /** Where exports and imports keep their files. */
  files: FileStore;
  subjects: Subjects;
  partitioning: Partitioning;
  secrets: KeyRing;
  /** Takes tokens of shared buckets. */
  take: TakeFrom & GiveBack;
  cursorSecret: () => Buffer;
  settings: {
    firstDayMessages: number;
    allowedRanges: readonly string[];
    allowedPorts: readonly number[];
    publicUrl: string;
    operatingTenant?: string | undefined;
    prometheusUrl?: string | undefined;
    prometheusSelector: string;
  };
  /** Asks each store whether it answers. */
  stores: StatusDeps["stores"];
  /** Open streams of inboxes, at most. */
  mostStreams: number;
  clock: Clock;
  log: Log;
  metrics: ApiserverMetrics & { queue: QueueMetrics };
};

export type Platform = ReturnType<typeof platform>;

/** What features may use. Each says by a type of its own what it uses of it. */
export const platform = (foundation: Foundation) => {
  const { db, nats, subjects, partitioning, settings, take, clock, log, metrics } = foundation;
  const usage = usageCounter({ rows: tenantUsage(db), clock, log });
  const published = (tenantId: string, events: number): void => usage.count(tenantId, { events });
  const spreadOf = spreadIn(foundation.directory);
  const eventsOut = eventPublisher({ publisher: nats, subjects, partitioning, spreadOf, published });
  const publishing = { events: eventsOut, log, metrics: metrics.queue };
  const messageEvents = outbox({
    rows: collectionOf<MessageRow>(db, messageCollection),
    done: messageIsDone,
    ...publishing,
  });
  const hints = messageHints({
    publisher: nats,
    announcer: nats,
    subjects,
    flush: async (row) => void (await messageEvents.flush(row)),
    log,
  });
  const outboxes = outboxesOf({ db, ...publishing });
  const [batches, claims] = [eventBatches(db), eventClaims(db)];
  const batchEvents = batchOutbox({ batches, claims, ...publishing });
  const events = eventStore({ batches, claims, events: storedEvents(db), outbox: batchEvents, clock, log });
  const waiting = waitingEvents({ batches, metrics, log });
  const engines = { templates: bodyTemplates(), contentTemplates: contentTemplates(), mjml: mjmlCompiler() };
  const status = openBoard(foundation);
  const running: Part[] = [usage, messageEvents, ...Object.values(outboxes), batchEvents, hints, events, waiting];
  const parts = [...running, ...Object.values(engines), status.part];
  const made = {
    ...foundation,
    limit: narrowLimit(take),
    uncount: uncount(take),
    cursors: cursors(foundation.cursorSecret),
    /** Every plan there is: a handful. */
    plans: () => collectionOf<PlanRow>(db, planCollection).find().toArray(),
    audit: auditEvents({ prepare: events.prepare, clock }),
    addresses: addressesOf(settings),
    events,
    waiting,
    /** Callbacks of providers, and our own receipts (`ownCallback`), until a dispatcher reads them. */
    callbacks: callbackQueue({ publisher: nats, subjects }),
    hints,
    outboxes,
    countUsage: usage.count,
    countAccepted: (outcome: "created" | "replayed", tenantId: string): void => {
      metrics.accepted.inc({ outcome });
      if (outcome === "created") usage.count(tenantId, { messages: 1 });
    },
    ...engines,
    /** Says why somebody would not get a message, and keeps who asked. */
    explain: whyUseCases({ ...foundation, events, limit: narrowLimit(take) }).why,
    /** How the service was when it was looked at last. */
    status,
    inboxStreams: openInboxStreams(foundation),
    /** What of it runs, in the order in which it is started. */
    parts,
  };
  /** Accepts a notification, as `POST /v1/notifications` does. */
  return { ...made, acceptNotification: messageUseCases(made).accept };
};

const addressesOf = ({ allowedRanges: allow, allowedPorts: ports }: Foundation["settings"]) => ({
  guard: addressGuard({ allow, ports }),
  resolve: dns(),
});

/** What publishes events right after their facts were written. */
const outboxesOf = (deps: PeopleOutboxDeps) => ({
  people: peopleOutbox(deps),
  conversations: conversationOutbox(deps),
});
