import { kubeClient } from "#core/runtime/kube/client.ts";
import { connection } from "#core/runtime/kube/connection.ts";
import { hasStatus } from "#core/runtime/kube/errors.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import type { Condition } from "#core/schema/kubernetes/common.ts";
import { resourceApiVersion } from "#core/schema/kubernetes/definition.ts";
import { UsageError } from "./errors.ts";

/** A resource of Herald's, whatever kind it is of. */
export type Seen = Resource<Record<string, unknown>, SeenStatus> & { kind: string };

export type SeenStatus = Record<string, unknown> & {
  conditions?: Condition[];
  observedGeneration?: number;
  id?: string;
};

/** A kind as the cluster serves it. */
export type ServedKind = { kind: string; plural: string; isNamespaced: boolean };

/** What a list gave; `forbidden`: the caller may not list it. */
export type Listed<T> = { items: T[]; forbidden: boolean };

export type Cluster = ReturnType<typeof openCluster>;

const pageSize = 500;
const mostPages = 200;

/** Opens the cluster of a kubeconfig. @throws UsageError when there is none that can be used */
export const openCluster = (
  env: NodeJS.ProcessEnv,
  { context, kubeconfig }: { context?: string; kubeconfig?: string },
) => {
  const at = connectionOf({ ...env, ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }) }, context);
  const client = kubeClient({ connection: at, userAgent: "kubectl-herald" });

  /** All objects of a path, page by page; an object that the caller may not list is not an error. */
  const list = async <T>(path: string, signal: AbortSignal, query = ""): Promise<Listed<T>> => {
    const items: T[] = [];
    let more: string | undefined;
    for (let page = 0; page < mostPages; page++) {
      const from = more === undefined ? "" : `&continue=${encodeURIComponent(more)}`;
      const request = { method: "GET", path: `${path}?limit=${pageSize}${query}${from}` } as const;
      const answer = await client.call<Page<T>>(request, signal).catch(nullIfForbidden);
      if (answer === null) return { items, forbidden: true };
      items.push(...answer.items);
      more = answer.metadata?.continue;
      if (!more) return { items, forbidden: false };
    }
    throw new Error(`${path} has more than ${mostPages * pageSize} objects`);
  };

  return {
    client,
    server: at.server,
    namespace: at.namespace ?? "default",
    list,

    /** The kinds of this installation, those that this release does not know included; empty when it has none. */
    kinds: async (signal: AbortSignal): Promise<ServedKind[]> => {
      const path = `/apis/${resourceApiVersion}`;
      const served = await client.call<Discovery>({ method: "GET", path }, signal).catch((error: unknown) => {
        if (hasStatus(error, 404)) return { resources: [] };
        throw error;
      });
      return served.resources
        .filter(({ name }) => !name.includes("/"))
        .map(({ kind, name, namespaced }) => ({ kind, plural: name, isNamespaced: namespaced }));
    },

    /** The resources of a kind, of one namespace or of all. */
    resources: async (
      { kind, plural, isNamespaced }: ServedKind,
      namespace: string | null,
      signal: AbortSignal,
    ): Promise<Listed<Seen>> => {
      const within = isNamespaced && namespace !== null ? `/namespaces/${namespace}` : "";
      const { items, forbidden } = await list<Seen>(`/apis/${resourceApiVersion}${within}/${plural}`, signal);
      return { items: items.map((item) => ({ ...item, kind })), forbidden }; // a list's items do not name theirs
    },
  };
};

type Page<T> = { items: T[]; metadata?: { continue?: string } };

type Discovery = { resources: { name: string; kind: string; namespaced: boolean }[] };

const connectionOf = (env: NodeJS.ProcessEnv, context: string | undefined) => {
  try {
    return connection(env, context);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
};

const nullIfForbidden = (error: unknown): null => {
  if (hasStatus(error, 403)) return null;
  throw error;
};
