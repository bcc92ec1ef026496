import type { FoundSecret, OwnSecret } from "../kube/secrets.ts";

/** The annotation by which a person asks for a new token or signing secret. */
export const rotateAnnotation = "herald.dev/rotate";

/**
 * A Secret that was left becomes the resource's again when `isOurs` knows its values; otherwise it counts as somebody
 * else's.
 */
export const retaken = (found: FoundSecret, isOurs: (values: Record<string, string>) => boolean): OwnSecret => {
  if (found.kind === "own") return { ...found, kind: "own", isOwned: true };
  if (found.kind !== "left") return { kind: found.kind };
  return isOurs(found.values) ? { ...found, kind: "own", isOwned: false } : { kind: "foreign" };
};

/** Whether a person asked, by the annotation, for a rotation that has not been made. */
export const isRotationDue = (asked: string | undefined, rotatedFor: string | null): boolean =>
  asked !== undefined && asked !== "" && asked !== rotatedFor;
