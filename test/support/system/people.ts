import { randomUUID } from "node:crypto";
import type { Db } from "mongodb";
import { eventPublisher } from "#core/queue/events.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventBatchesPerTenant, eventStream, jobStream } from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import { timers } from "#core/queue/timers.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { noFiles } from "#core/storage/files/store.ts";
import { jobParts } from "../../../dispatcher/jobs/job-parts.ts";
import { removalJob } from "../../../dispatcher/jobs/removals.ts";
import { peopleParts } from "../../../dispatcher/people/people-parts.ts";
import { groupOf, testPartitioning } from "../rows/partitioning.ts";
import { lendDatabase } from "../servers/database.ts";
import { testServers } from "../servers/servers.ts";
import { testTiming } from "../suite/soak.ts";
import { readEvents } from "./events.ts";

/** What dispatchers do for people, and their jobs, on a database and streams of a test file's own, with a clock that can be moved. */
export type PeopleSite = {
  db: Db;
  clock: { now: () => Date };
  /** Sets how far the clock is from the real one, ms. */
  shift: (ms: number) => void;
  /** Has the clock stand still at an instant. */
  stand: (at: Date) => void;
  startDispatcher: () => Promise<void>;
  /** Stops every dispatcher, and sets the clock right. */
  reset: () => Promise<void>;
  /** The events of a kind about a subject, oldest first. */
  eventsOn: (id: string, kind: EventEnvelope["type"]) => EventEnvelope[];
  /** Fills a tenant's share of the stream of events; what it gives back empties it. */
  fill: (tenantId: string, appId: string) => Promise<() => Promise<unknown>>;
  close: () => Promise<void>;
};

/** Opens a site before the tests of the `describe` that it is called in, resets it after each and closes it after all. */
export const usePeopleSite = (): PeopleSite => {
  const site = {} as PeopleSite; // sound: filled before the first test
  before(async () => void Object.assign(site, await openPeopleSite()));
  afterEach(() => site.reset());
  after(() => site.close?.());
  return site;
};

const openPeopleSite = async (): Promise<PeopleSite> => {
  const servers = await testServers();
  const name = `people_${randomUUID().slice(0, 8)}`;
  const { db, giveBack } = await lendDatabase(servers.mongodbUrl);
  const nats = await connectNats({ url: servers.natsUrl, name });
  const streams = [eventStream(name, testTiming, testPartitioning), jobStream(name, testTiming)];
  for (const spec of streams) await ensureStream(nats.jsm, spec);
  const events = await readEvents(servers.natsUrl, name);
  let shiftMs = 0;
  let standing: Date | null = null;
  const clock = { now: () => standing ?? new Date(Date.now() + shiftMs) };
  const queue = { nats, publisher: publisher(nats), subjects: subjects(name), partitioning: testPartitioning };
  const publishing = eventPublisher(queue);
  let running: Part[] = [];
  const reset = async (): Promise<void> => {
    for (const part of running.toReversed()) await part.stop(AbortSignal.timeout(3_000));
    [running, shiftMs, standing] = [[], 0, null];
  };
  return {
    db,
    clock,
    reset,
    shift: (ms) => {
      [shiftMs, standing] = [ms, null];
    },
    stand: (at) => {
      standing = at;
    },
    startDispatcher: async () => {
      const metrics = createMetrics("dispatcher");
      const log = createLog({ program: "dispatcher", level: "fatal" });
      const common = { db, holder: randomUUID(), timing: testTiming, clock, log, events: publishing };
      const people = peopleParts({ ...common, metrics: metrics.queue });
      const jobs = jobParts({
        ...common,
        ...queue,
        tracer: noTracer,
        metrics,
        jobs: [removalJob({ ...common, files: noFiles, stopping: new AbortController().signal, metrics })],
        config: { natsPrefix: name, natsReplicas: 1, openJobs: 8 },
        stopping: new AbortController().signal,
      });
      const sources = [...people.timers, ...jobs.timers];
      const parts = [...people.parts, ...jobs.parts, timers({ ...common, sources, metrics: metrics.queue })];
      for (const part of parts) await part.start(new AbortController().signal);
      running.push(...parts);
    },
    fill: async (tenantId, appId) => {
      const subject = subjects(name).events(groupOf(appId), tenantId);
      for (let n = 0; n < eventBatchesPerTenant; n++) nats.nc.publish(subject, "[]");
      await nats.nc.flush();
      return () =>
        nats.jsm.streams.purge(eventStream(name, testTiming, testPartitioning).stream.name, { filter: subject });
    },
    eventsOn: (id, kind) => events.about(id).filter(({ type, subject_id }) => type === kind && subject_id === id),
    close: async () => {
      await reset();
      await events.close();
      for (const { stream } of streams) await nats.jsm.streams.delete(stream.name);
      await nats.close();
      await giveBack();
    },
  };
};
