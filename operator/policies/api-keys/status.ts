import type { Hash } from "#core/domain/api-keys/hashes.ts";
import type { ApiKeySpec } from "#core/schema/api-keys/resource.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import { type Finding, refused } from "../conditions.ts";
import { nextRotationAt } from "./rotation.ts";

/** The status members about a key's tokens. */
export const statusOf = (
  spec: Pick<ApiKeySpec, "rotation">,
  { hashes, rotated_at }: Pick<ApiKeyRow, "hashes" | "rotated_at">,
): Record<string, string> => ({
  ...timesOf(hashes),
  ...(rotated_at && rotationTimes(rotated_at, nextRotationAt(spec, rotated_at))),
});

const timesOf = ([current, ...overlapping]: Hash[]): Record<string, string> => {
  const until = latestOf(overlapping);
  return {
    ...(current?.expires_at && { expiresAt: current.expires_at.toISOString() }),
    ...(until && { previousTokenValidUntil: until.toISOString() }),
  };
};

const rotationTimes = (madeAt: Date, nextAt: Date | null): Record<string, string> => ({
  lastRotatedAt: madeAt.toISOString(),
  ...(nextAt && { nextRotationAt: nextAt.toISOString() }),
});

const latestOf = (hashes: Hash[]): Date | null =>
  hashes.map(({ expires_at }) => expires_at).sort((a, b) => (b?.getTime() ?? 0) - (a?.getTime() ?? 0))[0] ?? null;

/** Ready of an expired key, and the time until the next token ends or is to be replaced. */
export const expiry = (
  hashes: Hash[],
  nextAt: Date | null,
  now: Date,
): { ready?: Finding; requeueAfterMs?: number } => {
  const expiresAt = hashes[0]?.expires_at ?? null;
  const isExpired = expiresAt !== null && expiresAt <= now;
  const times = [...hashes.map(({ expires_at }) => expires_at), nextAt];
  const ends = times.flatMap((at) => (at !== null && at > now ? at.getTime() : []));
  return {
    ...(isExpired && { ready: refused("Expired", `the key expired at ${expiresAt.toISOString()}`) }),
    ...(ends.length > 0 && { requeueAfterMs: Math.min(maxTimerMs, Math.min(...ends) - now.getTime() + 1_000) }),
  };
};

const maxTimerMs = 86_400_000; // setTimeout ends at 24 days; the resync comes sooner anyway
