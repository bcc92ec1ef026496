import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { type Db, MongoClient } from "mongodb";
import { findTool } from "../../../dev/files/find-tool.ts";
import { testDir } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import type { ServerProcess } from "../../../dev/processes/process.ts";
import { startProgram } from "../../../dev/processes/programs.ts";
import { command } from "../../../dev/processes/run-command.ts";
import { type Kubernetes, startKubernetes } from "../../../dev/servers/kubernetes.ts";
import { blocksOf } from "../../support/pages/blocks.ts";
import { type TestServers, testServers } from "../../support/servers/servers.ts";
import { aCheckout } from "./checkout.ts";
import { othersKind, othersTenant } from "./others.ts";

const commandsMs = 350_000; // those of a whole page

/** Has pages' commands run in a checkout, against a Kubernetes API of the file's own and an operator beside it. */
export const useWalk = () => {
  let servers: TestServers;
  let dir: string;
  let home: string;
  let cluster: Kubernetes;
  let operator: ServerProcess | undefined;
  let keyRing: string;
  const database = `docs_${process.pid}`;

  before(async () => {
    servers = await testServers();
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "docs-"));
    home = await aCheckout(dir, findTool("helm") ?? expect.fail("helm is missing: make install-chart-tools"));
    await startCluster("first");
  });
  after(async () => {
    await operator?.stop();
    await cluster?.stop();
    await inDatabase((db) => db.dropDatabase());
    await rm(dir, { recursive: true, force: true });
  });

  /** A Kubernetes API of the test's own: what the pages install is the whole cluster's. */
  const startCluster = async (name: string): Promise<void> => {
    const [port = 0, etcdPort = 0, etcdPeerPort = 0] = await freePorts(3);
    cluster = await startKubernetes({ dir: join(dir, name), throwaway: true, port, etcdPort, etcdPeerPort });
    await run("kubectl apply -f -", JSON.stringify(othersKind));
    await run("kubectl wait crd/tenants.a.example --for=condition=Established --timeout=120s");
    await run("kubectl apply -f -", JSON.stringify(othersTenant));
  };
  /** The pod that the chart asks for, as far as one can run without nodes. */
  const startOperator = async (more: Record<string, string> = {}): Promise<void> => {
    const [healthPort = 0] = await freePorts(1);
    operator = await startProgram({ program: "operator", dir, healthPort, env: { ...environment(), ...more } });
  };
  /** From now on programs have the key ring of the Secret that the Deployments name, as their pods would. */
  const useKeyRing = async (): Promise<void> => {
    const name = `{.spec.template.spec.volumes[?(@.name=="settings")].projected.sources[0].secret.name}`;
    keyRing = await run(`
      name=$(kubectl --namespace herald get deployment herald-operator --output jsonpath='${name}')
      kubectl --namespace herald get secret "$name" --output jsonpath='{.data.key-ring}' | base64 --decode`);
  };
  const environment = (): Record<string, string> => ({
    KUBECONFIG: cluster.kubeconfig,
    HERALD_MONGODB_URL: servers.mongodbUrl,
    HERALD_MONGODB_DATABASE: database,
    HERALD_NATS_URL: servers.natsUrl,
    HERALD_NATS_PREFIX: database,
    HERALD_REDIS_URL: servers.redisUrl,
    HERALD_KEY_RING: keyRing,
    HERALD_HEALTH_HOST: "127.0.0.1",
    HERALD_HTTP_HOST: "127.0.0.1",
  });
  const inDatabase = async <T>(act: (db: Db) => Promise<T>): Promise<T> => {
    const client = await MongoClient.connect(servers.mongodbUrl);
    return act(client.db(database)).finally(() => client.close());
  };
  const run = (script: string, input = ""): Promise<string> => {
    const env = { PATH: `${join(home, "bin")}:${process.env["PATH"]}`, KUBECONFIG: cluster.kubeconfig };
    return command(["bash", "-euo", "pipefail", "-c", script], { cwd: home, env, input, timeoutMs: commandsMs });
  };
  /** Each block of commands of a page, or of some of its sections. */
  const commandsOf = (page: string, ...sections: string[]): string[] =>
    blocksOf(page)
      .filter(({ info, section }) => info === "sh" && (sections.length === 0 || sections.includes(section)))
      .map(({ text }) => text);

  return {
    run,
    commandsOf,
    follow: (page: string, ...sections: string[]): Promise<string> => run(commandsOf(page, ...sections).join("\n")),
    dir: () => dir,
    keyRing: () => keyRing,
    startCluster,
    stopCluster: () => cluster.stop(),
    startOperator,
    stopOperator: async () => operator?.stop(),
    useKeyRing,
    environment,
    inDatabase,
    idsAndKeys: () =>
      run(`kubectl get tenants.herald.dev,apps.herald.dev,apikeys.herald.dev --all-namespaces --output jsonpath='{range .items[*]}{.kind} {.status.id}{"\\n"}{end}'
         kubectl --namespace demo get secret shop-backend --output jsonpath='{.data.token}'`),
  };
};
