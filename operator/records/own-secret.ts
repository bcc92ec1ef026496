import type { Resource } from "#core/runtime/kube/objects.ts";
import { type ResourceDefinition, resourceApiVersion } from "#core/schema/kubernetes/definition.ts";
import type { OwnSecret as Found, FoundSecret, Owner, Secrets } from "../kube/secrets.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { type Claimant, isRetained } from "../policies/management.ts";
import { rotateAnnotation } from "../policies/own-secret.ts";

/** The Secret that a resource of a kind writes beside itself. */
export type OwnSecret<R extends Resource> = {
  nameOf: (resource: R) => string;
  find: (secrets: Secrets, resource: R, signal: AbortSignal) => Promise<FoundSecret>;
  /** Says that the Secret is not the resource's to write. */
  conflict: (resource: R) => Finding;
  /** Writes it; false when it is as it is to be. */
  write: (secrets: Secrets, resource: R, content: Content, signal: AbortSignal) => Promise<boolean>;
  /** Takes the resource off its owners, so that it stays when the resource is deleted. */
  release: (secrets: Secrets, resource: R, signal: AbortSignal) => Promise<void>;
  /** Removes it with its resource, or releases it when the record stays. */
  drop: (secrets: Secrets, resource: R, signal: AbortSignal) => Promise<void>;
};

export type Content = {
  /** As it was found: the write fails with 409 when it has changed since. */
  before: Found;
  values: Record<string, string>;
  /** Whether the values that are there need not be written. */
  isAsWanted: (values: Record<string, string>) => boolean;
  /** Whether the credential takes the place of another. */
  isReplaced: boolean;
};

/** `credential`: the value that rotates; `what`: the record in words. */
export const ownSecret = <R extends Claimant>(
  { kind }: ResourceDefinition,
  { what, credential, nameOf }: { what: string; credential: string; nameOf: (resource: R) => string },
): OwnSecret<R> => {
  const ownerOf = (resource: R): Owner => ({ apiVersion: resourceApiVersion, kind, resource });
  return {
    nameOf,
    find: (secrets, resource, signal) => secrets.readOwn(ownerOf(resource), nameOf(resource), signal),
    conflict: (resource) =>
      refused("SecretConflict", `Secret ${nameOf(resource)} exists and is not this ${what}'s; it is left alone`),
    write: async (secrets, resource, { before, values, isAsWanted, isReplaced }, signal) => {
      const rotatedFor = resource.metadata.annotations?.[rotateAnnotation] ?? null;
      const isThere = before.kind === "own" && before.isOwned && before.rotatedFor === rotatedFor;
      if (isThere && isAsWanted(before.values)) return false;
      const content = { before, values, rotatedFor, replaced: isReplaced ? credential : null };
      await secrets.writeOwn(ownerOf(resource), nameOf(resource), content, signal);
      return true;
    },
    release: (secrets, resource, signal) => secrets.releaseOwn(ownerOf(resource), nameOf(resource), signal),
    drop: (secrets, resource, signal) => {
      const drop = isRetained(resource) ? secrets.releaseOwn : secrets.removeOwn;
      return drop(ownerOf(resource), nameOf(resource), signal);
    },
  };
};
