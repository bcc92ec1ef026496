import { type Finding, refused } from "../conditions.ts";
import { compare } from "../management.ts";

/** A Tenant that claims namespaces, and the namespaces that it owns now. */
export type Claimant = { name: string; createdAt: string; claims: readonly string[]; owns: readonly string[] };

/**
 * Which of its namespaces a Tenant gets: a namespace stays with the one that has it for as long as that one claims it;
 * of several new claims the older Tenant's wins, and of two of the same second the first by name.
 */
export const sharesOf = (
  self: Claimant,
  others: readonly Claimant[],
): { granted: string[]; lost: { namespace: string; to: string }[] } => {
  const verdicts = self.claims.map((namespace) => ({ namespace, owner: ownerOf(namespace, self, others) }));
  return {
    granted: verdicts.flatMap(({ namespace, owner }) => (owner === self ? namespace : [])),
    lost: verdicts.flatMap(({ namespace, owner }) => (owner === self ? [] : { namespace, to: owner.name })),
  };
};

const ownerOf = (namespace: string, self: Claimant, others: readonly Claimant[]): Claimant => {
  const claimants = [self, ...others].filter(({ claims }) => claims.includes(namespace));
  const owner = claimants.find(({ owns }) => owns.includes(namespace));
  const [oldest = self] = claimants.sort((a, b) => compare(a.createdAt, b.createdAt) || compare(a.name, b.name));
  return owner ?? oldest;
};

/** Says which namespaces are another's. */
export const namespaceTaken = (lost: readonly { namespace: string; to: string }[]): Finding | null =>
  lost.length === 0
    ? null
    : refused(
        "NamespaceTaken",
        lost.map(({ namespace, to }) => `namespace ${namespace} belongs to tenant ${to}`).join("; "),
      );

/** Says which namespaces the operator does not look at: resources there get no condition, so their Tenant tells. */
export const namespaceNotWatched = (namespaces: readonly string[]): Finding | null =>
  namespaces.length === 0
    ? null
    : refused(
        "NamespaceNotWatched",
        `the operator does not look at ${namespaces.join(", ")}: what stands there is left as it is, until ` +
          "operator.rbac.namespaces (HERALD_OPERATOR_WATCH_NAMESPACES) has it, or this Tenant has it no more",
      );
