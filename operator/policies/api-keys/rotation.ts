import { hashOf } from "#core/domain/api-keys/hashes.ts";
import type { ApiKeySpec } from "#core/schema/api-keys/resource.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import { isRotationDue } from "../own-secret.ts";

const hourMs = 3_600_000;

/** How long the token before the last one works when the resource does not say. */
const standardOverlapHours = 24;

export const overlapMsOf = ({ rotation }: Pick<ApiKeySpec, "rotation">): number =>
  (rotation?.overlapHours ?? standardOverlapHours) * hourMs;

/** When a token that was made at `madeAt` is to be replaced by schedule; null without a schedule. */
export const nextRotationAt = ({ rotation }: Pick<ApiKeySpec, "rotation">, madeAt: Date): Date | null =>
  rotation?.everyHours === undefined ? null : new Date(madeAt.getTime() + rotation.everyHours * hourMs);

export type RotationInput = {
  spec: Pick<ApiKeySpec, "rotation" | "expiresAt">;
  /** Value of the annotation by which a person asks, and the one that the Secret was made for. */
  asked: string | undefined;
  rotatedFor: string | null;
  /** The token in the Secret. */
  token: string;
  stored: Pick<ApiKeyRow, "hashes" | "rotated_at"> | null;
  now: Date;
};

/**
 * Whether a token is to be replaced: somebody asks, its time has come, or a rotation was cut short before the Secret.
 */
export const isReplacementDue = (input: RotationInput): boolean =>
  isRotationDue(input.asked, input.rotatedFor) || isCutShort(input) || isTimeUp(input);

/** Whether the record knows a newer token than the one in the Secret. The newer one was lost in a crash. */
const isCutShort = ({ token, stored }: RotationInput): boolean =>
  (stored?.hashes ?? []).slice(1).some(({ hash }) => hash === hashOf(token));

/** Whether the schedule asks for another token. An expired key gets none: it would not work either. */
const isTimeUp = ({ spec, stored, now }: RotationInput): boolean => {
  if (stored?.rotated_at === undefined) return false;
  if (spec.expiresAt !== undefined && new Date(spec.expiresAt) <= now) return false;
  const next = nextRotationAt(spec, stored.rotated_at);
  return next !== null && next <= now;
};

/** When the token was made that is, or is about to be, in the Secret. */
export const madeAtOf = (token: string, { stored, now }: { stored: RotationInput["stored"]; now: Date }): Date =>
  stored?.hashes[0]?.hash === hashOf(token) ? (stored.rotated_at ?? now) : now;
