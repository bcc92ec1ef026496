import type { KubeObject } from "#core/runtime/kube/objects.ts";
import { text } from "../kit/arguments.ts";
import type { Cluster } from "../kit/cluster.ts";
import type { Given } from "../kit/command.ts";
import { Refused, UsageError } from "../kit/errors.ts";

type Service = KubeObject & { spec: { ports?: { name?: string }[] } };

/** Services of apiservers, of one namespace or of the whole cluster. */
export const apiserverServices = async (
  cluster: Cluster,
  namespace: string | null,
  signal: AbortSignal,
): Promise<{ items: string[]; forbidden: boolean }> => {
  const wanted = "app.kubernetes.io/part-of=herald,app.kubernetes.io/component=apiserver";
  const path = namespace === null ? "/api/v1/services" : `/api/v1/namespaces/${namespace}/services`;
  const { items, forbidden } = await cluster.list<Service>(
    path,
    signal,
    `&labelSelector=${encodeURIComponent(wanted)}`,
  );
  const serving = items.filter(({ spec }) => spec.ports?.some(({ name }) => name === "http"));
  return { items: serving.map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`), forbidden };
};

/** Where the API server's proxy leads to a Service, `namespace/name`, that has a port called http. */
export const proxyPath = (service: string): string => {
  const [namespace = "", name = ""] = service.split("/");
  return `/api/v1/namespaces/${namespace}/services/http:${name}:http/proxy`;
};

/** The path of the REST interface: of the Service that `--service` names, else of the only one there is. */
export const restPath = async (cluster: Cluster, given: Given, signal: AbortSignal): Promise<string> => {
  const named = text(given, "service");
  if (named !== undefined && !/^[a-z0-9-]+\/[a-z0-9-]+$/.test(named))
    throw new UsageError("--service takes NAMESPACE/NAME");
  return proxyPath(named ?? (await onlyOne(cluster, signal)));
};

const onlyOne = async (cluster: Cluster, signal: AbortSignal): Promise<string> => {
  const { items, forbidden } = await apiserverServices(cluster, null, signal);
  const [first] = items;
  if (forbidden) throw new Refused("you may not list Services: --service NAMESPACE/NAME says where the apiserver is");
  if (first === undefined)
    throw new Refused("there is no Service of the apiserver: --service NAMESPACE/NAME names one");
  if (items.length > 1)
    throw new UsageError(`there are several apiservers: --service takes one of ${items.join(", ")}`);
  return first;
};
