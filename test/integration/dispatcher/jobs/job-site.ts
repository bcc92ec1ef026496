import { randomUUID } from "node:crypto";
import type { Collection, Db } from "mongodb";
import { timings } from "#core/domain/timing.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { jobStream } from "#core/queue/jetstream/topology.ts";
import { type Subjects, subjects } from "#core/queue/subjects.ts";
import { timers } from "#core/queue/timers.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import { ensureIndexes } from "#core/storage/collections.ts";
import { dueIndex, noWork } from "#core/storage/work/due.ts";
import type { JobRow } from "#core/storage/work/jobs.ts";
import type { JobType } from "../../../../dispatcher/jobs/job.ts";
import { jobParts } from "../../../../dispatcher/jobs/job-parts.ts";
import { job } from "../../../../dispatcher/jobs/run.ts";
import { lendDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { keptLog } from "../../core/queue/helpers.ts";

/** A type of job that no release has: it goes through pages, and keeps how many it has behind it. */
type ExportRow = JobRow & { page: number; by?: string };

export type Given = Omit<JobType<ExportRow>, "name" | "rows"> & { termMs?: number; openJobs?: number };

/** Dispatchers that have one type of job alone, on a database and a stream of their own. */
export type JobSite = Awaited<ReturnType<typeof openJobSite>>;

export const openJobSite = async () => {
  const prefix = `jobs_${randomUUID().slice(0, 8)}`;
  const { mongodbUrl, natsUrl } = await testServers();
  const { db, giveBack } = await lendDatabase(mongodbUrl);
  const rows = db.collection<ExportRow>("exports");
  await ensureIndexes(db, [{ name: "exports", indexes: [dueIndex] }]);
  const nats = await connectNats({ url: natsUrl, name: prefix });
  const { stream } = jobStream(prefix, timings.short);
  await ensureStream(nats.jsm, jobStream(prefix, timings.short));
  let [shiftMs, running]: [number, Part[]] = [0, []];
  const clock = { now: () => new Date(Date.now() + shiftMs) };

  const stop = async (parts: readonly Part[]): Promise<void> => {
    running = running.filter((part) => !parts.includes(part));
    await Promise.all(parts.map((part) => part.stop(AbortSignal.timeout(3_000))));
  };
  const row = async (id: string): Promise<ExportRow> => {
    const found = await rows.findOne({ _id: id });
    if (found === null) throw new Error(`${id} is gone`);
    return found;
  };
  const base = { ...noWork, tenant_id: "ten_1", app_id: "app_1" };
  const addOf = async (tenant_id: string, ...ids: string[]): Promise<void> => {
    const due_at = new Date(clock.now().getTime() - 1);
    await rows.insertMany(ids.map((_id) => ({ ...base, tenant_id, page: 0, _id, due_at })));
  };
  const apart = db.collection<JobRow>("apart");
  return {
    rows,
    row,
    /** Has a job done of a type that has places of its own. */
    addApart: async (_id: string): Promise<void> => void (await apart.insertOne({ ...base, _id, due_at: new Date() })),
    isApartOver: async (_id: string): Promise<boolean> => (await apart.findOne({ _id }))?.due_at === null,
    nats,
    stream: stream.name,
    subjects: subjects(prefix),
    clock,
    /** Sets how far the clock is from the real one. */
    shift: (ms: number) => void (shiftMs = ms),
    dispatcher: async (given: Given) => {
      const made = dispatcherOf(given, { db, rows, nats, subjects: subjects(prefix), prefix, clock });
      for (const part of made.parts) await part.start(new AbortController().signal);
      running.push(...made.parts);
      return made;
    },
    add: (...ids: string[]): Promise<void> => addOf("ten_1", ...ids),
    addOf,
    isOver: (id: string) => async (): Promise<boolean> => {
      const { due_at, lease } = await row(id);
      return due_at === null && lease === null;
    },
    /** Hints that are in the stream, those under way too. */
    waiting: async (): Promise<number> => (await nats.jsm.streams.info(stream.name)).state.messages,
    /** Stops all timers: nothing more is hinted at. Or all workers: hints wait. */
    stopAllThe: (name: "timers" | "jobs") => stop(running.filter((part) => part.name === name)),
    stopAll: () => stop(running),
    reset: async () => {
      await stop(running);
      shiftMs = 0;
      await rows.deleteMany({});
      await nats.jsm.streams.purge(stream.name);
    },
    close: async () => {
      await nats.jsm.streams.delete(stream.name);
      await nats.close();
      await giveBack();
    },
  };
};

type Site = { db: Db; rows: Collection<ExportRow>; nats: Nats; subjects: Subjects } & {
  prefix: string;
  clock: { now: () => Date };
};

const dispatcherOf = ({ termMs = 30_000, openJobs = 4, ...type }: Given, { prefix, ...site }: Site) => {
  const [{ log, lines }, metrics, stopping] = [keptLog(), createMetrics("dispatcher"), new AbortController()];
  const timing = { ...timings.short, leaseMs: termMs };
  const common = { ...site, holder: randomUUID(), log, timing, metrics, stopping: stopping.signal };
  const exports = job<ExportRow>({ name: "exports", rows: site.rows, ...type });
  const config = { natsPrefix: prefix, natsReplicas: 1, openJobs };
  const apart = job<JobRow>({
    name: "removals",
    rows: site.db.collection<JobRow>("apart"),
    isApart: true,
    run: async () => ({ end: { dueAt: null } }),
  });
  const jobs = jobParts({
    ...common,
    tracer: noTracer,
    jobs: [exports, apart],
    publisher: publisher(site.nats),
    config,
  });
  const results = async () => (await metrics.jobs.get()).values.filter(({ value }) => value > 0);
  return {
    parts: [...jobs.parts, timers({ ...common, sources: jobs.timers, metrics: metrics.queue })],
    lines,
    stopping,
    items: async () => (await metrics.jobItems.get()).values.filter(({ labels }) => labels["type"] === "exports"),
    results: async () => Object.fromEntries((await results()).map(({ labels, value }) => [labels["result"], value])),
    asides: async () => (await metrics.queue.setAside.get()).values.find(({ labels }) => labels.source === "exports"),
    run: (id: string) => exports.run(id, common, new AbortController().signal),
  };
};
