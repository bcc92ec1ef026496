import type { Db } from "mongodb";
import { callbacks } from "#core/channels/callbacks.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import type { Timing } from "#core/domain/timing.ts";
import { callbackBatch, callbackQueue } from "#core/queue/callbacks.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { isOfOne } from "#core/queue/jetstream/passing.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { callbackStream } from "#core/queue/jetstream/topology.ts";
import { worker } from "#core/queue/jetstream/worker.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import { publicAuthorities } from "#core/runtime/http/public-authorities.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Tracer } from "#core/runtime/tracing/tracer.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { sessions } from "#core/storage/people/sessions.ts";
import { fetchedCertificates, providerCertificates } from "#core/storage/service/provider-certificates.ts";
import { followedWords } from "#core/storage/suppressions/words.ts";
import { type ConversationsDeps, conversations } from "../conversations/open.ts";
import { mailsOf } from "../mail/contents.ts";
import type { GuardedClient } from "../net/guarded/client.ts";
import type { Suppressions } from "../suppressions/open.ts";
import { receiptApplier } from "./applier.ts";
import type { Report } from "./apply.ts";
import { callbackBodies } from "./bodies.ts";
import { certificates, sharing } from "./certificates.ts";
import { checkCallbacks } from "./check.ts";
import { confirmation } from "./confirm.ts";
import { handleCallbacks } from "./handle.ts";
import { readCallbacks } from "./read.ts";

export type CallbackPartsDeps = {
  db: Db;
  nats: Nats;
  publisher: Publisher;
  subjects: Subjects;
  events: EventPublisher;
  directory: ConversationsDeps["directory"];
  suppressions: Suppressions;
  files: Pick<FileStore, "kind" | "read" | "write" | "remove">;
  client: Pick<GuardedClient, "request">;
  config: { natsPrefix: string; natsReplicas: number };
  metrics: Metrics<"dispatcher">;
  timing: Timing;
  tracer: Tracer;
  clock: Clock;
  log: Log;
};

const messagesAtOnce = 16; // of up to 200 callbacks and 3 MiB; their receipts share reads and writes
const batched = { most: messagesAtOnce, inFlight: 2, everyMs: 50 }; // a third fewer commands, where thousands come a second
const timeoutMs = 60_000;

/** What a dispatcher runs for callbacks of providers. Source: docs/decisions/0061. */
export const callbackParts = (deps: CallbackPartsDeps): Part[] => {
  const { db, nats, config, timing, suppressions, metrics, log, clock } = deps;
  const spec = callbackStream(config.natsPrefix, timing);
  const { keep, all } = providerCertificates(db);
  const count = (labels: { provider: string; kind: string }, by: number) => metrics.callbackItems.inc(labels, by);
  const apply = gather<Report, Receipt[]>({ write: receiptApplier(deps), ...batched, isOfOne });
  const talks = conversations({
    ...deps,
    apply: (of, receipts) => apply({ ...of, receipts, isRepeated: false }),
    metrics: metrics.queue,
  });
  const mails = mailsOf({ ...deps, isTaking: talks.isTaking, count });
  const handle = handleCallbacks({
    bodies: callbackBodies({ files: deps.files, log }),
    mails: mails.contents,
    dropLost: mails.dropLost,
    check: checkCallbacks({
      callbacks,
      certificate: certificates({ request: deps.client.request, known: fetchedCertificates({ all, clock }), clock }),
      trusted: publicAuthorities,
      share: sharing(keep, clock),
      count,
      log,
      clock,
    }),
    read: readCallbacks({ callbacks, count, log }),
    apply,
    receive: talks.receive,
    suppressor: suppressions,
    sessions: sessions(db),
    words: followedWords(db),
    confirm: confirmation(deps.client),
    queue: callbackQueue(deps),
    unmatched: ({ tenantId: tenant, appId: app }, receipts) => {
      metrics.unmatchedReceipts.inc(receipts.length);
      log.warn({ tenant, app, count: receipts.length, delivery: receipts[0]?.deliveryId }, "receipts.unmatched");
    },
    clock,
  });
  const repair = () => ensureStream(nats.jsm, spec, config.natsReplicas);
  return [
    ...talks.parts,
    mails.part,
    worker({
      name: "callbacks",
      nats,
      stream: spec.stream.name,
      consumer: "callbacks",
      concurrency: messagesAtOnce,
      timeoutMs,
      timing,
      repair,
      parse: callbackBatch,
      handle,
      log,
      tracer: deps.tracer,
      metrics: metrics.queue,
    }),
  ];
};
