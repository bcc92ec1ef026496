/** The members of metadata that the operator reads. */
export type ObjectMeta = {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  finalizers?: string[];
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  ownerReferences?: OwnerReference[];
};

export type OwnerReference = { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean };

export type KubeObject = { metadata: ObjectMeta };

/** A custom resource of ours. */
export type Resource<Spec = unknown, Status = object> = KubeObject & { spec: Spec; status?: Status };

/** A Secret as the API serves it: values in base64. */
export type Secret = KubeObject & { type?: string; data?: Record<string, string> };

/** An object without what the operator never reads: the managed fields, and kubectl's copy of what it applied. */
export const trimmed = <T extends KubeObject>(object: T): T => {
  const { managedFields: _, ...metadata } = object.metadata as ObjectMeta & { managedFields?: unknown };
  const { [lastApplied]: __, ...annotations } = metadata.annotations ?? {};
  return { ...object, metadata: { ...metadata, ...(metadata.annotations && { annotations }) } };
};

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** `namespace/name`, or `name` for a cluster-wide object. */
export const keyOf = ({ metadata }: KubeObject): string => keyFrom(metadata.namespace, metadata.name);

export const keyFrom = (namespace: string | undefined, name: string): string =>
  namespace === undefined ? name : `${namespace}/${name}`;
