import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { bin } from "../files/paths.ts";
import { launch, type Server, type ServerOptions } from "../processes/process.ts";

/** A second port, encrypted, for clients with a certificate; the files of its own, its key and the authorities of clients. */
export type RedisTls = { port: number; cert: string; key: string; ca: string };

/** Starts Redis with its default settings, on loopback; `clustered`: as a node of a cluster that is still to be made. */
export const startRedis = async (
  options: ServerOptions & { port: number; clustered?: { busPort: number }; tls?: RedisTls },
): Promise<Server> => {
  const { dir, port, name = "redis", detached = false, clustered, tls } = options;
  const data = join(dir, name);
  mkdirSync(data, { recursive: true });
  const network = ["--port", `${port}`, "--bind", "127.0.0.1"];
  const cluster = clustered === undefined ? [] : [...clusterSettings, "--cluster-port", `${clustered.busPort}`];
  if (clustered !== undefined && tls !== undefined) cluster.push("--tls-cluster", "yes"); // else nodes tell clients the ports that are not encrypted
  const encrypted = tls === undefined ? [] : tlsSettings(tls);
  const { pid, ...controls } = await launch({
    name,
    dir,
    detached,
    command: [bin("redis-server"), ...network, ...cluster, ...encrypted, "--dir", data, "--set-proc-title", "no"],
    ports: [port, ...(tls === undefined ? [] : [tls.port]), ...(clustered === undefined ? [] : [clustered.busPort])],
    marker: `--port ${port} --bind`,
    isReady: () => answersPing(port),
  });
  return { ...controls, pids: [pid], url: `redis://127.0.0.1:${port}` };
};

const tlsSettings = ({ port, cert, key, ca }: RedisTls): string[] => {
  const files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca];
  return ["--tls-port", `${port}`, ...files, "--tls-auth-clients", "yes"];
};

/** Slots of a node that is lost are refused, those of the others served. */
const clusterSettings = "--cluster-enabled yes --cluster-node-timeout 2000 --cluster-require-full-coverage no".split(
  " ",
);

/** While it loads its data Redis answers -LOADING. */
const answersPing = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 1000 });
    const finish = (isReady: boolean) => {
      socket.destroy();
      done(isReady);
    };
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (reply) => finish(reply.toString().startsWith("+PONG")));
    socket.once("error", () => finish(false));
    socket.once("timeout", () => finish(false));
  });
