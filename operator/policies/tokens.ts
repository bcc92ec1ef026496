import { createHash } from "node:crypto";
import type { ApiKeyRow } from "#core/storage/api-keys.ts";

/** How long a replaced signing secret still signs. */
export const overlapMs = 24 * 3_600_000;

type Hash = ApiKeyRow["hashes"][number];

export const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Whether a text has the form of a token of ours: `hk_` and 32 bytes in base64url. */
export const isToken = (text: string | undefined): text is string => /^hk_[A-Za-z0-9_-]{43}$/.test(text ?? "");

/** Whether a text has the form of a signing secret of ours: `whsec_` and 32 bytes in base64. */
export const isSigningSecret = (text: string | undefined): text is string =>
  /^whsec_[A-Za-z0-9+/]{43}=$/.test(text ?? "");

/** Whether a person asked, by the annotation, for a rotation that has not been made. */
export const isRotationDue = (asked: string | undefined, rotatedFor: string | null): boolean =>
  asked !== undefined && asked !== "" && asked !== rotatedFor;

export type HashInput = {
  /** The token that is, or is about to be, in the connection Secret. */
  token: string;
  /** The token in the Secret before; null when there was none, or when it is the same. */
  replaced: string | null;
  stored: readonly Hash[];
  expiresAt: Date | null;
  /** How long a replaced token still works. */
  overlapMs: number;
  now: Date;
};

/**
 * The hashes that are valid: the token's, and for the overlap those it replaced. Others, e.g. of a token that was made by
 * a pass that never came to write it down, are dropped.
 */
export const hashesOf = ({ token, replaced, stored, expiresAt, overlapMs: forMs, now }: HashInput): Hash[] => {
  const current = hashOf(token);
  const latest = new Date(now.getTime() + forMs);
  const overlapping = stored.flatMap(({ hash, expires_at }): Hash[] => {
    if (hash === current) return [];
    if (replaced !== null && hash === hashOf(replaced)) return [{ hash, expires_at: sooner(expires_at, latest) }];
    return expires_at === null ? [] : [{ hash, expires_at: sooner(expires_at, latest) }];
  });
  const valid = overlapping.filter(({ expires_at }) => expires_at === null || expires_at > now);
  return [{ hash: current, expires_at: expiresAt }, ...valid.slice(0, maxOverlapping)];
};

/** Hashes that are valid no longer than until then. */
export const endingBy = (hashes: readonly Hash[], latest: Date): Hash[] =>
  hashes.map(({ hash, expires_at }) => ({ hash, expires_at: sooner(expires_at, latest) }));

const maxOverlapping = 5; // more rotations than these within the overlap cut the oldest off

const sooner = (a: Date | null, b: Date): Date => (a !== null && a < b ? a : b);
