import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { dirname, join } from "node:path";
import { keptFile } from "../files/kept-file.ts";
import { bin } from "../files/paths.ts";
import { answersHttp, launch, type Server, type ServerOptions, type ServerProcess } from "../processes/process.ts";

/** Ports of etcd and kube-apiserver. */
export type KubernetesPorts = { port: number; etcdPort: number; etcdPeerPort: number };

/** A Kubernetes API without nodes. */
export type Kubernetes = Server & {
  /** File that makes kubectl and clients administrators of it. */
  kubeconfig: string;
};

/**
 * Starts etcd and kube-apiserver on loopback. There are no controllers: nothing collects garbage, and a deleted
 * namespace stays Terminating. ServiceAccounts get tokens (`kubectl create token`), RBAC is on.
 */
export const startKubernetes = async (options: ServerOptions & KubernetesPorts): Promise<Kubernetes> => {
  const { dir, port, etcdPort, etcdPeerPort, name = "kubernetes", detached = false, throwaway = false } = options;
  const started = { dir, name, detached, throwaway };
  const files = makeCredentials(join(dir, name));
  const etcd = await startEtcd(started, etcdPort, etcdPeerPort);
  const url = `https://127.0.0.1:${port}`;
  const apiserver = await startApiserver(started, files, { port, etcdPort }).catch(async (error: unknown) => {
    await etcd.stop();
    throw error;
  });
  return { ...asOneServer(apiserver, etcd), url, kubeconfig: files.kubeconfig };
};

/**
 * Where the API server's ways into the cluster's network end, the proxies of Services: nobody is there, unless a test
 * listens as a proxy that takes CONNECT.
 */
export const clusterNetworkSocket = (kubeconfig: string): string =>
  join(dirname(kubeconfig), "kubernetes", "network.sock");

type Files = { dir: string; tokens: string; token: string; serviceAccountKey: string; kubeconfig: string };

const makeCredentials = (dir: string): Files => {
  const tokens = join(dir, "tokens.csv");
  const [token = ""] = keptFile(tokens, () => `${randomBytes(24).toString("hex")},admin,1,"system:masters"\n`).split(
    ",",
  );
  const serviceAccountKey = join(dir, "service-account.key");
  keptFile(serviceAccountKey, () =>
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
  );
  return { dir, tokens, token, serviceAccountKey, kubeconfig: join(dir, "..", "kubeconfig") };
};

const startEtcd = (options: Required<ServerOptions>, port: number, peerPort: number): Promise<ServerProcess> => {
  const { dir, name } = options;
  const client = `http://127.0.0.1:${port}`;
  const clients = [`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`];
  const peer = `http://127.0.0.1:${peerPort}`;
  const peers = [
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ];
  const quick = options.throwaway ? ["--unsafe-no-fsync"] : [];
  return launch({
    ...options,
    name: `${name}-etcd`,
    command: [bin("etcd"), `--data-dir=${join(dir, name, "etcd")}`, ...clients, ...peers, ...quick],
    ports: [port, peerPort],
    marker: `--listen-client-urls=${client}`,
    isReady: () => answersHttp(`${client}/health`),
  });
};

const startApiserver = (
  options: Required<ServerOptions>,
  files: Files,
  { port, etcdPort }: { port: number; etcdPort: number },
): Promise<ServerProcess> => {
  const { dir, tokens, serviceAccountKey, kubeconfig } = files;
  const network = [
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${port}`,
    "--endpoint-reconciler-type=none", // a Service's endpoints may not be loopback
    "--service-cluster-ip-range=10.96.0.0/16",
    `--egress-selector-config-file=${join(dir, "egress.json")}`,
  ];
  keptFile(join(dir, "egress.json"), () => JSON.stringify(egressBy(clusterNetworkSocket(kubeconfig))));
  const access = [
    `--token-auth-file=${tokens}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${serviceAccountKey}`,
    `--service-account-signing-key-file=${serviceAccountKey}`,
    "--disable-admission-plugins=ServiceAccount", // it waits for a controller that makes default accounts
  ];
  const storage = [`--etcd-servers=http://127.0.0.1:${etcdPort}`, `--cert-dir=${join(dir, "certs")}`];
  return launch({
    ...options,
    command: [bin("kube-apiserver"), ...storage, ...network, ...access],
    ports: [port],
    marker: `--secure-port=${port}`,
    isReady: async () => writeKubeconfig(files, port) && saysReady(files, port),
  });
};

const egressBy = (udsName: string): object => ({
  apiVersion: "apiserver.k8s.io/v1beta1",
  kind: "EgressSelectorConfiguration",
  egressSelections: [
    { name: "cluster", connection: { proxyProtocol: "HTTPConnect", transport: { uds: { udsName } } } },
  ],
});

/** Asked often while it starts: a kubectl for each would take from it what it starts with. */
const saysReady = (files: Files, port: number): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const options = { ca: readFileSync(certificateOf(files)), headers: { authorization: `Bearer ${files.token}` } };
  const asked = get(`https://127.0.0.1:${port}/readyz`, { ...options, agent: false, timeout: 2_000 }, (reply) => {
    reply.resume();
    resolve(reply.statusCode === 200);
  });
  asked.on("timeout", () => asked.destroy(new Error("late")));
  asked.on("error", () => resolve(false)); // refused, or late: not ready
  return promise;
};

const certificateOf = ({ dir }: Files): string => join(dir, "certs", "apiserver.crt");

/** The API server signs its own certificate at its first start; until then there is nothing to trust. */
const writeKubeconfig = (files: Files, port: number): boolean => {
  const { token, kubeconfig } = files;
  if (!existsSync(certificateOf(files))) return false;
  const ca = readFileSync(certificateOf(files)).toString("base64");
  const cluster = { server: `https://127.0.0.1:${port}`, "certificate-authority-data": ca };
  const content = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "herald", cluster }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "herald", context: { cluster: "herald", user: "admin" } }],
    "current-context": "herald",
  };
  writeFileSync(`${kubeconfig}.new`, JSON.stringify(content, null, 2), { mode: 0o600 });
  renameSync(`${kubeconfig}.new`, kubeconfig);
  return true;
};

const asOneServer = (apiserver: ServerProcess, etcd: ServerProcess): Omit<Server, "url"> => ({
  pids: [apiserver.pid, etcd.pid],
  stop: async () => {
    await apiserver.stop();
    await etcd.stop();
  },
  kill: async () => {
    await Promise.all([apiserver.kill(), etcd.kill()]);
  },
  pause: apiserver.pause,
  resume: apiserver.resume,
});
