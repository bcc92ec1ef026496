import { readFile } from "node:fs/promises";
import { parse, stringify } from "yaml";

type Kubeconfig = { clusters: { name: string; cluster: { server: string } }[] };

/** The kubeconfig of another user: the given one's cluster, reached by `server` when that is given, with a token. */
export const kubeconfigOf = async (
  kubeconfig: string,
  { token, server }: { token: string; server?: string },
): Promise<string> => {
  const { clusters } = parse(await readFile(kubeconfig, "utf8")) as Kubeconfig; // as every kubeconfig
  const cluster = server === undefined ? clusters[0]?.cluster : { server };
  return stringify({
    clusters: [{ name: "test", cluster }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  });
};
