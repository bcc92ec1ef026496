import type { Condition } from "#core/schema/kubernetes/common.ts";

/** A condition of a resource. `Unknown`: the operator is still trying; `False`: somebody must change something. */
export type Finding = { status: Condition["status"]; reason: string; message: string };

export const ready = (message: string): Finding => ({ status: "True", reason: "Reconciled", message });
/** For what stays so until a person changes something. */
export const refused = (reason: string, message: string): Finding => ({ status: "False", reason, message });
export const waiting = (reason: string, message: string): Finding => ({ status: "Unknown", reason, message });

/** A resource with the members that the CRD of every kind has in its status. */
type WithStatus = { status?: { conditions?: readonly Condition[] } };

export const conditionsIn = ({ status }: WithStatus): readonly Condition[] => status?.conditions ?? [];

export const readyIn = (resource: WithStatus): Condition | undefined =>
  conditionsIn(resource).find(({ type }) => type === "Ready");

/** The conditions after new findings. A condition's time changes only with its status. */
export const conditionsOf = (
  before: readonly Condition[],
  findings: Readonly<Record<string, Finding>>,
  { generation, now }: { generation: number; now: Date },
): Condition[] => {
  const kept = before.filter(({ type }) => findings[type] === undefined);
  const next = Object.entries(findings).map(([type, { status, reason, message }]): Condition => {
    const old = before.find((condition) => condition.type === type);
    return {
      type,
      status,
      reason,
      message: message.slice(0, 1024),
      observedGeneration: generation,
      lastTransitionTime: old?.status === status ? old.lastTransitionTime : now.toISOString(),
    };
  });
  return [...kept, ...next].sort((a, b) => a.type.localeCompare(b.type));
};

/**
 * The merge patch that turns one status into another, or null when they are the same. Members that are no longer there
 * are removed.
 */
export const statusPatch = (before: object, after: object): Record<string, unknown> | null => {
  const old = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(([key, value]) => value !== undefined && !isSame(old.get(key), value));
  const present = new Set(Object.entries(after).flatMap(([key, value]) => (value === undefined ? [] : key)));
  const removed = [...old.keys()].filter((key) => !present.has(key)).map((key) => [key, null] as const);
  if (changed.length + removed.length === 0) return null;
  return Object.fromEntries([...changed, ...removed]);
};

const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? "";
