import { randomUUID } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { newId } from "#core/domain/ids.ts";
import { timings } from "#core/domain/timing.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { jobStream } from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import { timers } from "#core/queue/timers.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import { type AccountCheckRow, accountCheckCollection, accountChecks } from "#core/storage/apps/account-checks.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { contentTemplates } from "#core/storage/content-templates/content-templates.ts";
import { links } from "#core/storage/links/links.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { startApns } from "../../../../dev/simulators/apns.ts";
import { makeCredentials } from "../../../../dev/simulators/kit/credentials.ts";
import { accountOpener } from "../../../../dispatcher/channels/accounts.ts";
import { accountCheckJob } from "../../../../dispatcher/jobs/account-checks.ts";
import { jobParts } from "../../../../dispatcher/jobs/job-parts.ts";
import { guardedClient } from "../../../../dispatcher/net/guarded/client.ts";
import { restTransports } from "../../../../dispatcher/net/guarded/rest.ts";
import { http2Pool } from "../../../../dispatcher/net/http2/pool.ts";
import { anApp, plainMail, testKeyRing } from "../../../support/rows/fixtures.ts";
import { lendDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { testCredentials } from "../../../support/system/credentials.ts";
import { until } from "../../../support/until.ts";
import { keptLog } from "../../core/queue/helpers.ts";

/** Accounts that APNs knows, or does not, or that cannot be opened; and one of a mail server that never says anything. */
type Accounts = { ios_push?: "known" | "unknown" | "sealed elsewhere"; email?: "silent" };

const nowhere = "https://127.0.0.1:1";

/** Dispatchers that test accounts and do nothing else, on a database and a stream of their own, before APNs. */
export type CheckSite = Awaited<ReturnType<typeof openCheckSite>>;

export const openCheckSite = async () => {
  const prefix = `checks_${randomUUID().slice(0, 8)}`;
  const { mongodbUrl, natsUrl } = await testServers();
  const { db, giveBack } = await lendDatabase(mongodbUrl);
  const nats = await connectNats({ url: natsUrl, name: prefix });
  const { stream } = jobStream(prefix, timings.short);
  await ensureStream(nats.jsm, jobStream(prefix, timings.short));
  const credentials = testCredentials();
  const { tls } = credentials;
  const apns = await startApns({ port: 0, tls, keys: [credentials.apns] });
  const mail = await silentServer();
  const ring = keyRing(testKeyRing);
  const rows = collectionOf<AccountCheckRow>(db, accountCheckCollection);
  const { ask } = accountChecks(db);
  const apps = db.collection<AppRow>("apps");
  const announced: string[] = [];
  let [shiftMs, running]: [number, Part[]] = [0, []];
  const clock = { now: () => new Date(Date.now() + shiftMs) };
  const client = guardedClient({ guard: addressGuard({ allow: ["127.0.0.0/8"] }) });

  const channelsOf = (appId: string, { ios_push: ios, email }: Accounts): AppRow["channels"] => {
    const { teamId, keyId, privateKeyPem } = ios === "unknown" ? makeCredentials().apns : credentials.apns;
    const place =
      ios === "sealed elsewhere" ? "apps/another/ios_push.private_key" : `apps/${appId}/ios_push.private_key`;
    const account = {
      team_id: teamId,
      key_id: keyId,
      bundle_id: "dev.herald.test",
      environment: "production",
    } as const;
    const server = { host: "127.0.0.1", port: mail.port, security: "none", from_address: "a@shop.test" } as const;
    return {
      ...(ios && { ios_push: { ...account, private_key: ring.seal(privateKeyPem, place) } }),
      ...(email && { email: { ...plainMail, ...server } }),
    };
  };
  const askAll = (app: AppRow) => ask(app, Object.keys(app.channels) as Channel[], clock.now()); // its own keys
  const stop = async (parts: readonly Part[]): Promise<void> => {
    running = running.filter((part) => !parts.includes(part));
    await Promise.all(parts.map((part) => part.stop(AbortSignal.timeout(3_000))));
  };
  return {
    apps,
    apns,
    announced,
    clock,
    /** Connections that the silent mail server has taken since the last reset. */
    silent: mail.taken,
    shift: (ms: number) => void (shiftMs += ms),
    row: (id: string) => rows.findOne({ _id: id }),
    count: () => rows.countDocuments(),
    /** Stores an app, and asks for its accounts to be tested as the operator does. */
    app: async (accounts: Accounts): Promise<AppRow> => {
      const blank = anApp({ _id: newId("app", new Date()), tenant_id: "ten_1" });
      const app = { ...blank, channels: channelsOf(blank._id, accounts) };
      await apps.insertOne(app);
      await askAll(app);
      return app;
    },
    /** Has the accounts of an app tested that has changed. */
    ask: async (app: AppRow): Promise<void> => {
      await apps.replaceOne({ _id: app._id }, app);
      await askAll(app);
    },
    tested: (app: AppRow, channel: Channel): Promise<void> =>
      until(async () => ((await rows.findOne({ _id: `${app._id}/${channel}` }))?.last ?? null) !== null, 20_000),
    dispatcher: async ({ timeoutMs = 20_000 } = {}) => {
      const [{ log, lines }, metrics, stopping] = [keptLog(), createMetrics("dispatcher"), new AbortController()];
      const common = {
        db,
        nats,
        clock,
        log,
        holder: randomUUID(),
        stopping: stopping.signal,
        subjects: subjects(prefix),
      };
      const openAccount = accountOpener({
        open: (options) => http2Pool({ ca: tls.cert, ...options }),
        client,
        rest: restTransports(),
        publicUrl: "https://herald.example",
        keepLink: (row) => links(db).keep([row]),
        contentTemplates: contentTemplates(db),
        linkSigner: ring.signer("links"),
        urls: {
          apns: { production: apns.url, sandbox: apns.url },
          apnsChannels: { production: apns.url, sandbox: apns.url },
          fcm: nowhere,
          hms: { push: nowhere, oauth: nowhere },
          twilio: nowhere,
          twilioContent: nowhere,
          vonage: nowhere,
          meta: nowhere,
        },
        clock,
        unseal: ring.open,
        graceMs: 50_000,
      });
      const announcer = { changed: (collection: string, id: string) => void announced.push(`${collection} ${id}`) };
      const job = accountCheckJob({ ...common, openAccount, announcer, random: Math.random, metrics, timeoutMs });
      const config = { natsPrefix: prefix, natsReplicas: 1, openJobs: 1 };
      const timing = timings.short;
      const jobs = jobParts({
        ...common,
        timing,
        tracer: noTracer,
        metrics,
        jobs: [job],
        publisher: publisher(nats),
        config,
      });
      const parts = [...jobs.parts, timers({ ...common, sources: jobs.timers, metrics: metrics.queue })];
      for (const part of parts) await part.start(new AbortController().signal);
      running.push(...parts);
      const counted = async () => (await metrics.accountChecks.get()).values.filter(({ value }) => value > 0);
      return {
        lines,
        counts: async () => (await counted()).map(({ labels: { channel, result } }) => ({ channel, result })),
        stop: async () => {
          stopping.abort();
          await stop(parts);
        },
      };
    },
    reset: async () => {
      mail.cut();
      await stop(running);
      shiftMs = 0;
      announced.length = 0;
      apns.script({});
      apns.log.clear();
      await Promise.all([rows.deleteMany({}), apps.deleteMany({})]);
      await nats.jsm.streams.purge(stream.name);
    },
    close: async () => {
      await mail.stop();
      await apns.stop();
      client.close();
      await nats.jsm.streams.delete(stream.name);
      await nats.close();
      await giveBack();
    },
  };
};

/** Takes connections and never says anything. */
const silentServer = async () => {
  const sockets = new Set<Socket>();
  let taken = 0;
  const server = createServer((socket) => {
    taken++;
    sockets.add(socket);
    socket.on("error", () => {}); // it is cut
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    taken = 0;
  };
  return {
    port: (server.address() as AddressInfo).port, // a TCP server's address is never a string
    taken: () => taken,
    cut,
    stop: async () => {
      cut();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
};
