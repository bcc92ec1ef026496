import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bin } from "../files/paths.ts";
import { answersHttp, launch, type Server, type ServerOptions } from "../processes/process.ts";

/** Makes a server one of several: where the others reach it, and where it reaches them (not itself: it would count as one more). */
export type NatsCluster = { port: number; routes: readonly number[] };

/** Who may come in. */
export type NatsLogin = { user: string; password: string };

/** Files of its certificate, its key and the authorities of clients, who all need a certificate. */
export type NatsTls = { cert: string; key: string; ca: string };

/**
 * Starts nats-server with JetStream, on loopback; in a cluster it is ready once most of the others are. Throws below
 * 2.15: 2.9 and 2.10 ignore what they do not know.
 */
export const startNats = async (
  options: ServerOptions & {
    port: number;
    monitorPort: number;
    cluster?: NatsCluster;
    login?: NatsLogin;
    tls?: NatsTls;
  },
): Promise<Server> => {
  const { dir, port, monitorPort, cluster, login, tls, name = "nats", detached = false } = options;
  const store = join(dir, name);
  const listen = ["-a", "127.0.0.1", "-p", `${port}`, "-m", `${monitorPort}`];
  const closed = login === undefined ? [] : ["--user", login.user, "--pass", login.password];
  const encrypted = tls === undefined ? [] : ["-c", writeTls(join(dir, `${name}-tls.conf`), tls)];
  const { pid, ...controls } = await launch({
    name,
    dir,
    detached,
    command: [
      bin("nats-server"),
      ...listen,
      "-js",
      "-sd",
      store,
      ...closed,
      ...encrypted,
      ...(cluster ? clustered(name, cluster) : []),
    ],
    ports: [port, monitorPort, ...(cluster ? [cluster.port] : [])],
    marker: `-p ${port} -m ${monitorPort}`,
    isReady: () => answersHttp(`http://127.0.0.1:${monitorPort}/healthz`), // ready only with JetStream recovered
  });
  await assertVersion(monitorPort).catch(async (error: unknown) => {
    await controls.stop();
    throw error;
  });
  return { ...controls, pids: [pid], url: `nats://127.0.0.1:${port}` };
};

const writeTls = (file: string, { cert, key, ca }: NatsTls): string => {
  const block = { cert_file: cert, key_file: key, ca_file: ca, verify: true };
  writeFileSync(file, JSON.stringify({ tls: block }));
  return file;
};

const clustered = (name: string, { port, routes }: NatsCluster): string[] => {
  const listen = ["--server_name", name, "--cluster_name", "herald", "--cluster", `nats://127.0.0.1:${port}`];
  return [...listen, "--routes", routes.map((route) => `nats://127.0.0.1:${route}`).join(",")];
};

const assertVersion = async (monitorPort: number): Promise<void> => {
  const reply = await fetch(`http://127.0.0.1:${monitorPort}/varz`);
  const { version } = (await reply.json()) as { version: string }; // documented: NATS monitoring, /varz
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 2 || (major === 2 && minor < 15)) throw new Error(`nats-server ${version} is too old: 2.15 is needed`);
};
