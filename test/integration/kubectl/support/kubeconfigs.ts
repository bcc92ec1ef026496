import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { bin } from "../../../../dev/files/paths.ts";
import { command } from "../../../../dev/processes/run-command.ts";
import type { Installation } from "../../operator/support/harness.ts";

export type Kubeconfigs = ReturnType<typeof kubeconfigsIn>;

/** Makes kubeconfigs of other people than the administrator of the tests, each a file in `dir`. */
export const kubeconfigsIn = (dir: string, { client, servers }: Pick<Installation, "client" | "servers">) => {
  const post = <T>(path: string, body: object): Promise<T> =>
    client.call<T>({ method: "POST", path, body }, AbortSignal.timeout(60_000));

  /** The kubeconfig of the tests with another user. */
  const withUser = async (user: object, name: string, cluster: object = {}): Promise<string> => {
    const text = await command([bin("kubectl"), "config", "view", "--raw", "--flatten"], {
      env: { KUBECONFIG: servers.kubeconfig },
    });
    const config = parse(text) as { users: { user: object }[]; clusters: { cluster: object }[] };
    const [theirs, at] = [config.users[0], config.clusters[0]];
    if (theirs === undefined || at === undefined)
      throw new Error("the kubeconfig of the tests names no user or cluster");
    theirs.user = user;
    at.cluster = { ...at.cluster, ...cluster };
    const file = join(dir, name);
    await writeFile(file, stringify(config));
    return file;
  };

  return {
    withUser,
    /** Of somebody who has these rights in a namespace and no others. */
    of: async (namespace: string, name: string, rules: object[]): Promise<string> => {
      const core = `/api/v1/namespaces/${namespace}`;
      const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
      await post(`${core}/serviceaccounts`, { metadata: { name } });
      await post(`${rbac}/roles`, { metadata: { name }, rules });
      await post(`${rbac}/rolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      });
      const request = { spec: { expirationSeconds: 600 } };
      const { status: made } = await post<{ status: { token: string } }>(
        `${core}/serviceaccounts/${name}/token`,
        request,
      );
      return withUser({ token: made.token }, name);
    },
  };
};
