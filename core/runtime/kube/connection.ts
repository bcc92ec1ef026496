import { existsSync, readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
// The parts of client-node that read a kubeconfig. Its index would load 1,300 generated models: 85 MB (docs/decisions/0020).
import {
  type Cluster,
  newClusters,
  newContexts,
  newUsers,
  type User,
} from "@kubernetes/client-node/dist/config_types.js";
import { ExecAuth } from "@kubernetes/client-node/dist/exec_auth.js";
import { FileAuth } from "@kubernetes/client-node/dist/file_auth.js";
import { parse } from "yaml";

export type Connection = ReturnType<typeof connection>;

/**
 * Where the Kubernetes API is, and with which credentials requests are sent: by `KUBECONFIG`, else by the pod's service account,
 * else by `~/.kube/config`. `context` is another one of the kubeconfig than its current one.
 */
export const connection = (env: NodeJS.ProcessEnv, context?: string) => {
  const { cluster, user, namespace } = inKubeconfig(env, context) ?? inPod(env) ?? inHome(context);
  if (cluster.proxyUrl) throw unusable("proxy-url is not supported: reach the API server directly");
  const legacy = user.authProvider as { config?: { tokenFile?: string } } | undefined; // untyped in client-node
  if (legacy && !legacy.config?.tokenFile) throw unusable("auth-provider is not supported: use exec");
  const server = new URL(cluster.server);
  const trust = trustOf(cluster);
  const prove = credentialsOf(user);
  return {
    server,
    /** The namespace of the context, or of the pod; null when neither names one. */
    namespace,
    /** Adds the certificates and the credentials that are valid now. */
    authorize: async (options: RequestOptions & { headers: Record<string, string> }): Promise<void> => {
      Object.assign(options, trust);
      if (user.impersonateUser) options.headers["Impersonate-User"] = user.impersonateUser;
      await prove(options);
    },
  };
};

const unusable = (why: string): Error => new Error(`kubeconfig: ${why}`);

type Access = { cluster: Cluster; user: User; namespace: string | null };

const inKubeconfig = ({ KUBECONFIG }: NodeJS.ProcessEnv, context: string | undefined): Access | null => {
  const files = (KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "" && existsSync(file));
  if (KUBECONFIG && files.length === 0) throw unusable(`no such file: ${KUBECONFIG}`);
  return files.length === 0 ? null : accessIn(files, context);
};

const podDir = "/var/run/secrets/kubernetes.io/serviceaccount";

const inPod = ({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }: NodeJS.ProcessEnv): Access | null => {
  if (!host || !existsSync(`${podDir}/token`)) return null;
  const address = host.includes(":") ? `[${host}]` : host;
  return {
    cluster: {
      name: "pod",
      server: `https://${address}:${port ?? 443}`,
      caFile: `${podDir}/ca.crt`,
      skipTLSVerify: false,
    },
    user: { name: "pod", authProvider: { config: { tokenFile: `${podDir}/token` } } }, // read again every minute
    namespace: existsSync(`${podDir}/namespace`) ? readFileSync(`${podDir}/namespace`, "utf8").trim() : null,
  };
};

const inHome = (context: string | undefined): Access => {
  const file = join(homedir(), ".kube", "config");
  if (!existsSync(file)) throw unusable("none given: set KUBECONFIG");
  return accessIn([file], context);
};

/** Merges several files as kubectl does: the first file that names a thing decides. */
const accessIn = (files: readonly string[], wanted: string | undefined): Access => {
  const parts = files.map((file) => readFile(file));
  const contextName = wanted ?? parts.find(({ current }) => current !== "")?.current;
  const context = parts.flatMap(({ contexts }) => contexts).find(({ name }) => name === contextName);
  if (context === undefined)
    throw unusable(wanted === undefined ? "current-context names no context" : `there is no context ${wanted}`);
  const cluster = parts.flatMap(({ clusters }) => clusters).find(({ name }) => name === context.cluster);
  const user = parts.flatMap(({ users }) => users).find(({ name }) => name === context.user);
  if (cluster === undefined) throw unusable(`context ${context.name} names no cluster`);
  return { cluster, user: user ?? { name: "nobody" }, namespace: context.namespace ?? null };
};

const readFile = (file: string) => {
  const content = (parse(readFileSync(file, "utf8")) ?? {}) as Record<string, unknown>; // checked by client-node below
  const at = (path: string | undefined) => (!path || isAbsolute(path) ? path : join(dirname(file), path));
  const current = content["current-context"];
  return {
    current: typeof current === "string" ? current : "",
    contexts: newContexts(content["contexts"]),
    clusters: newClusters(content["clusters"]).map((cluster) => withFiles(cluster, { caFile: at(cluster.caFile) })),
    users: newUsers(content["users"]).map((user) =>
      withFiles(user, { certFile: at(user.certFile), keyFile: at(user.keyFile) }),
    ),
  };
};

const withFiles = <T extends object>(entry: T, files: Record<string, string | undefined>): T => ({
  ...entry,
  ...Object.fromEntries(Object.entries(files).filter(([, path]) => path)),
});

const trustOf = ({ caData, caFile, skipTLSVerify, tlsServerName }: Cluster): RequestOptions => {
  const ca = fileOrData(caFile, caData);
  return {
    ...(ca && { ca }),
    ...(skipTLSVerify && { rejectUnauthorized: false }),
    ...(tlsServerName && { servername: tlsServerName }),
  };
};

const credentialsOf = (user: User): Connection["authorize"] => {
  const cert = fileOrData(user.certFile, user.certData);
  const key = fileOrData(user.keyFile, user.keyData);
  const provider = [new ExecAuth(), new FileAuth()].find((auth) => auth.isAuthProvider(user));
  return async (options) => {
    if (cert && key) Object.assign(options, { cert, key });
    if (user.token) options.headers["Authorization"] = `Bearer ${user.token.trim()}`;
    if (user.username) options.auth = `${user.username}:${user.password ?? ""}`;
    await provider?.applyAuthentication(user, options);
  };
};

const fileOrData = (file: string | undefined, data: string | undefined): Buffer | null => {
  if (file) return readFileSync(file);
  return data ? Buffer.from(data, "base64") : null;
};
