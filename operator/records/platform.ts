import type { Clock } from "#core/domain/clock.ts";
import type { Kept } from "#core/storage/settings/managed.ts";
import type { Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import type { Secrets } from "../kube/secrets.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { asWanted, type Claimant } from "../policies/management.ts";
import type { SecretValues } from "../policies/secret-reader.ts";

/** Tells the other programs that a document changed, and of which app it is or was, so that they drop their copies. */
export type Announce = (collection: string, id: string, appId?: string) => void;

/** What every handler uses. */
export type Common = { announce: Announce; clock: Clock };

/** A verdict that leaves everything as it is. */
export const refusal = (finding: Finding): Verdict => ({ ready: finding, isChanged: false });

/** A verdict on what has no room by its plan: what makes room, e.g. a deletion, need not wake it. */
export const noRoomYet = (finding: Finding): Verdict => ({ ...refusal(finding), requeueAfterMs: 30_000 });

/** The verdict on a document that is as wanted. */
export const kept = (
  resource: Claimant,
  what: string,
  { kept: result, ...status }: { kept: Kept } & Record<string, unknown>,
): Verdict => ({
  ready: asWanted(resource, what),
  status,
  isChanged: result !== "unchanged",
});

export const noTenant = ({ metadata }: Resource): Finding =>
  refused("TenantNotFound", `no tenant owns the namespace ${metadata.namespace ?? ""}`);

/** The Secrets of these names beside a resource; null for one that is not there. */
export const secretValues = async (
  secrets: Pick<Secrets, "read">,
  { metadata }: Resource,
  names: readonly string[],
  signal: AbortSignal,
): Promise<SecretValues> => {
  const read = (name: string) => secrets.read(metadata.namespace ?? "", name, signal);
  return new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
};

/** The first finding of a chain of policies, in order. */
export const firstFinding = <Input>(
  policies: readonly ((input: Input) => Finding | null)[],
  input: Input,
): Finding | null => {
  for (const policy of policies) {
    const finding = policy(input);
    if (finding !== null) return finding;
  }
  return null;
};
