import type { KubeClient } from "#core/runtime/kube/client.ts";
import { isNotFound } from "#core/runtime/kube/errors.ts";
import type { KubeObject } from "#core/runtime/kube/objects.ts";

type ConfigMap = KubeObject & { data?: Record<string, string> };

export type ConfigMaps = ReturnType<typeof configMaps>;

/** Reads ConfigMaps when they are needed, and keeps none. */
export const configMaps = (client: KubeClient) => ({
  /** Its texts; null when there is no such ConfigMap. */
  read: async (namespace: string, name: string, signal: AbortSignal): Promise<Record<string, string> | null> => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
    try {
      return (await client.call<ConfigMap>({ method: "GET", path }, signal)).data ?? {};
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  },
});
