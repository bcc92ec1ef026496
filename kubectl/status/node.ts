import type { Seen } from "../kit/cluster.ts";

/** How a resource, or a part of one, is doing. `Pending`: the operator has not seen its last change. */
export type Readiness = "True" | "False" | "Unknown" | "Pending";

/** A line of the tree. */
export type Node = {
  kind: string;
  namespace: string | null;
  name: string;
  ready: Readiness;
  reason: string;
  message: string;
  /** What else is worth knowing at a look, e.g. a webhook's rate of success. */
  facts: string;
  id: string | null;
  createdAt: string | null;
  children: Node[];
};

/** The line of a resource, by its condition Ready. */
export const nodeOf = (resource: Seen, facts = ""): Node => {
  const { metadata, status } = resource;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const isStale = ready === undefined || ready.observedGeneration < (metadata.generation ?? 0);
  return {
    kind: resource.kind,
    namespace: metadata.namespace ?? null,
    name: metadata.name,
    ...(isStale
      ? pending(metadata.deletionTimestamp)
      : { ready: ready.status, reason: ready.reason, message: ready.message }),
    facts,
    id: status?.id ?? null,
    createdAt: metadata.creationTimestamp ?? null,
    children: [],
  };
};

const pending = (deletedAt: string | undefined): Pick<Node, "ready" | "reason" | "message"> => ({
  ready: "Pending",
  reason: deletedAt === undefined ? "NotReconciled" : "Deleting",
  message: "the operator has not seen this version yet",
});

/** A part of a resource that has no resource of its own, such as a channel of an App. */
export const partOf = (
  owner: Seen,
  kind: string,
  name: string,
  state: Pick<Node, "ready" | "reason" | "message" | "facts">,
): Node => ({
  kind,
  namespace: owner.metadata.namespace ?? null,
  name,
  ...state,
  id: null,
  createdAt: null,
  children: [],
});

/** A node and all below it, from the top down. */
export const walk = (node: Node): Node[] => [node, ...node.children.flatMap(walk)];

/** A channel whose provider was not reached is no trouble by itself: its account may be right. */
export const isReady = ({ kind, ready }: Node): boolean =>
  ready === "True" || (kind === "Channel" && ready === "Unknown");

/** `Kind namespace/name`. */
export const called = ({ kind, namespace, name }: Node): string =>
  `${kind} ${namespace === null ? "" : `${namespace}/`}${name}`;
