import { prepareVolumes, type Volumes } from "./cluster/volumes.ts";
import { commandsOf, run } from "./pages.ts";
import { releaseName } from "./release.ts";
import { type System, samplesNamespace } from "./system.ts";

/** Herald with the stores of its chart, on volumes: one installation that the files share which ask for it. */
export type Trial = {
  volumes: Volumes;
  install: () => Promise<void>;
  /** Installs it with the samples, unless it is there. */
  ready: () => Promise<void>;
  /** Takes all away that Herald is and has in the cluster, which is then like another one. */
  empty: () => Promise<void>;
  end: () => Promise<void>;
};

let shared: Promise<Trial | null> | null = null;

/** The installation of this run, which begins with an empty cluster; null where no volumes can be had. */
export const trial = (at: System): Promise<Trial | null> => {
  shared ??= start(at);
  return shared;
};

/** Removes it, where a file has asked for it. */
export const endTrial = async (): Promise<void> => (await shared)?.end();

const start = async (at: System): Promise<Trial | null> => {
  const volumes = await prepareVolumes(at.cluster, 4);
  if (volumes === null) {
    console.log("      pending: there are no volumes, neither by a default StorageClass nor by E2E_NODE_EXEC");
    return null;
  }
  const install = () => at.release.installTrial(at.at.rest, volumes.storageClass);
  await remove(at);
  await at.prepare();
  return {
    volumes,
    install,
    ready: async () => {
      if (await at.release.isInstalled()) return;
      await install();
      await at.applySamples();
    },
    empty: async () => {
      await remove(at);
      await volumes.renew();
    },
    end: async () => {
      await remove(at);
      await volumes.remove();
    },
  };
};

const deletionMs = 120_000; // a pod may take its grace of 40 s, and its namespace goes after it

const remove = async (at: System): Promise<void> => {
  const { cluster, release } = at;
  await release.uninstall();
  const kinds = (await cluster.list(["customresourcedefinitions"]))
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.endsWith(".herald.dev"));
  if (kinds.length > 0) {
    const [, withoutOperator = ""] = commandsOf("uninstall.md", "When a deletion does not end");
    const left = await cluster.list([kinds.join(","), "--all-namespaces"]);
    if (left.length > 0) await run(at, withoutOperator);
    await cluster.kubectl(["delete", "customresourcedefinitions", ...kinds], { timeoutMs: deletionMs });
  }
  const namespaces = [samplesNamespace, releaseName];
  await cluster.kubectl(["delete", "namespaces", ...namespaces, "--ignore-not-found"], { timeoutMs: deletionMs });
};
