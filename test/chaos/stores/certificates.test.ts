import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect } from "chai";
import { Redis } from "ioredis";
import { testDir } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import type { Server } from "../../../dev/processes/process.ts";
import { type NatsTls, startNats } from "../../../dev/servers/nats.ts";
import { startRedis } from "../../../dev/servers/redis.ts";
import { authority, type Issuer } from "../../../dev/simulators/kit/certificate.ts";
import { type Installation, installation } from "../../integration/operator/support/harness.ts";
import { manifests } from "../../integration/operator/support/manifests.ts";
import { putCertificate } from "../../support/servers/certificate-folder.ts";
import { testServers } from "../../support/servers/servers.ts";
import { startTlsFront, type TlsFront } from "../../support/servers/tls-front.ts";
import {
  audit,
  type Caller,
  expectAllSent,
  keepCalling,
  type Sending,
  seedDevices,
  startSending,
} from "../../support/system/sending.ts";
import { until } from "../../support/until.ts";

const [first, second] = [authority("first authority"), authority("second authority")];
const both = first.cert + second.cert;
const anyMs = 60_000;

/** Connections of a NATS, as its monitor tells. */
type Connz = { connections: { name?: string; tls_peer_certs?: { cert_sha256: string }[] }[] };

describe("certificates of the stores that are replaced under load", () => {
  let dir: string;
  let front: TlsFront;
  let nats: Server | undefined;
  let [natsPort, monitorPort, redisPort, redisTlsPort] = [0, 0, 0, 0];
  let redisServer: Server;
  let redis: Redis;
  let sending: Sending;
  let herald: Installation;
  let caller: Caller | undefined;
  let changer: Changer | undefined;

  const put = (name: string, by: Issuer, ca: string) => putCertificate(join(dir, name), by, ca);
  const restartNats = async (tls?: NatsTls): Promise<void> => {
    await nats?.stop();
    nats = await startNats({ dir, port: natsPort, monitorPort, ...(tls && { tls }) });
  };
  /** How many programs NATS has connections of that have shown a certificate. */
  const encryptedPrograms = async (): Promise<number> => {
    const reply = await fetch(`http://127.0.0.1:${monitorPort}/connz?auth=1`);
    const { connections } = (await reply.json()) as Connz; // documented: NATS monitoring, /connz
    const ofPrograms = connections.filter(({ name }) => name?.startsWith("herald-")); // one that has just come has no name yet
    return ofPrograms.filter(({ tls_peer_certs: shown }) => shown?.length).length;
  };
  const redisClients = async (): Promise<string[]> => {
    const list = String(await redis.call("client", "list"));
    return list.split("\n").filter((line) => line.includes(`laddr=127.0.0.1:${redisTlsPort} `));
  };

  before(async () => {
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "certificates-"));
    [natsPort = 0, monitorPort = 0, redisPort = 0, redisTlsPort = 0] = await freePorts(4);
    const { files, material } = await put("servers", first, both);
    const shared = await testServers();
    front = await startTlsFront(material, Number(new URL(shared.mongodbUrl).port));
    await restartNats();
    redisServer = await startRedis({ dir, port: redisPort, tls: { port: redisTlsPort, ...files } });
    redis = new Redis(redisServer.url);
    sending = await startSending({
      mongodbUrl: shared.mongodbUrl,
      natsUrl: `nats://127.0.0.1:${natsPort}`,
      redisUrl: redisServer.url,
    });
    await restartNats(files); // its streams are there
    herald = await installation();
  });
  after(async () => {
    await caller?.stop();
    await changer?.stop();
    await restartNats(); // who takes the streams away has no certificate
    await sending?.close();
    await herald?.close();
    redis?.disconnect();
    await Promise.all([nats?.kill(), redisServer?.kill(), front?.close()]);
    await rm(dir, { recursive: true, force: true });
  });

  it("are taken without a restart and without a failed request, before and after the stores drop the former ones", async () => {
    const { folder } = await put("programs", first, first.cert);
    const former = await put("former", first, first.cert);
    const env = {
      HERALD_MONGODB_URL: `mongodb://127.0.0.1:${front.port}/?directConnection=true`,
      HERALD_MONGODB_TLS_DIR: folder,
      HERALD_NATS_TLS_DIR: folder,
      HERALD_REDIS_URL: `rediss://127.0.0.1:${redisTlsPort}`,
      HERALD_REDIS_TLS_DIR: folder,
    };
    const api = await sending.system.start("apiserver", env);
    const dispatcher = await sending.system.start("dispatcher", env);
    const operator = await sending.system.start("operator", { ...env, ...inCluster(herald) });
    const pids = [api, dispatcher, operator].map((program) => program.pid());
    const devices = await seedDevices(sending.system, 10);
    const accepted = (): number => sending.apns.log.counts().accepted;
    const changed = (): number => changer?.changes() ?? 0;
    const further = (sent = accepted(), taken = changed()): Promise<void> =>
      until(() => accepted() >= sent + 3 && changed() >= taken + 2, anyMs); // the second has begun by now
    caller = keepCalling(sending.system, api, devices);
    changer = keepChanging(herald);
    await further();
    expect(front.issuers()).to.deep.equal(new Set([first.name]));
    await until(async () => (await encryptedPrograms()) === 3 && (await redisClients()).length === 1, anyMs);

    await put("programs", second, both);
    await until(() => front.issuers().has(second.name) && !front.issuers().has(first.name), anyMs);
    await further();

    const next = await put("servers", second, second.cert);
    front.drop(next.material, second.name);
    const { cert, key, ca } = next.files;
    await redis.call("config", "set", "tls-cert-file", cert, "tls-key-file", key, "tls-ca-cert-file", ca);
    const killed = await redisClients();
    await redis.call("client", "kill", "type", "normal", "skipme", "yes");
    await restartNats(next.files);
    await until(async () => (await encryptedPrograms()) === 3, anyMs);
    await until(async () => {
      const clients = await redisClients();
      return clients.length === 1 && !killed.includes(clients[0] ?? "");
    }, anyMs);
    await further();
    for (const port of [front.port, redisTlsPort]) await refused(port, { ...former.material, ca: second.cert });

    await changer.stop();
    const { ids, answers } = await caller.stop();
    expect([...answers.keys()], "answers").to.deep.equal([202]);
    for (const [i, messageId] of ids.entries()) {
      const one = await audit(sending, { messageId, devices: devices.slice(i % 10, (i % 10) + 1), withinMs: anyMs });
      expectAllSent(one, 1);
    }
    expect([api, dispatcher, operator].map((program) => program.pid())).to.deep.equal(pids);
  });
});

const inCluster = ({ servers, settings }: Installation): Record<string, string> => ({
  KUBECONFIG: servers.kubeconfig,
  HERALD_OPERATOR_LEASE: settings.leaseName,
  HERALD_OPERATOR_SELECTOR: settings.labelSelector,
});

/** `stop` throws when a change was not taken within a minute. */
type Changer = { changes: () => number; stop: () => Promise<void> };

/** Changes a plan again and again, each time the operator has taken the change before. */
const keepChanging = (herald: Installation): Changer => {
  const over = new AbortController();
  let changes = 0;
  const change = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const plan = manifests(herald).plan({ title: `Test ${changes}` });
      await herald.apply(plan);
      await herald.ready(plan);
      changes += 1;
    }
  };
  const ended = change();
  ended.catch(() => undefined); // `stop` tells
  return {
    changes: () => changes,
    stop: () => {
      over.abort();
      return ended;
    },
  };
};

/** Resolves when a server ends a connection because of the certificate that it was shown. */
const refused = async (port: number, material: { cert: string; key: string; ca: string }): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect({ port, host: "127.0.0.1", ...material });
  const ended = (error?: Error): void => {
    if (error === undefined || /alert|ECONNRESET|EPIPE/.test(String(error))) resolve();
  };
  socket.on("error", ended).on("close", () => ended());
  socket.write("PING\r\n"); // whoever is taken is answered, and stays connected
  await promise;
  socket.destroy();
};
