import type { KubeObject } from "#core/runtime/kube/objects.ts";
import { text } from "../kit/arguments.ts";
import type { Cluster } from "../kit/cluster.ts";
import type { Given } from "../kit/command.ts";
import { Refused, UsageError } from "../kit/errors.ts";

type Service = KubeObject & { spec: { ports?: { name?: string; appProtocol?: string }[] } };

/** Services of apiservers, of one namespace or of the whole cluster: `namespace/name`, after `https:` where they serve TLS. */
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
  const serving = items.flatMap(({ metadata, spec }) => {
    const port = spec.ports?.find(({ name }) => name === "http");
    const service = `${metadata.namespace ?? ""}/${metadata.name}`;
    return port === undefined ? [] : [port.appProtocol === "https" ? `${encrypted}${service}` : service];
  });
  return { items: serving, forbidden };
};

const encrypted = "https:";

/**
 * Where the API server's proxy leads to a Service as `apiserverServices` names it, by its port called http. The API server takes
 * any certificate there.
 */
export const proxyPath = (service: string): string => {
  const scheme = service.startsWith(encrypted) ? "https" : "http";
  const [namespace = "", name = ""] = service.replace(encrypted, "").split("/");
  return `/api/v1/namespaces/${namespace}/services/${scheme}:${name}:http/proxy`;
};

/** The path of the REST interface: of the Service that `--service` names, else of the only one there is. */
export const restPath = async (cluster: Cluster, given: Given, signal: AbortSignal): Promise<string> => {
  const named = text(given, "service");
  if (named !== undefined && !/^(https:)?[a-z0-9-]+\/[a-z0-9-]+$/.test(named))
    throw new UsageError("--service takes NAMESPACE/NAME, after https: where it serves TLS");
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
