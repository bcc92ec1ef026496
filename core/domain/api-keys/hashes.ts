import { createHash } from "node:crypto";

/** The SHA-256 of a token, hex, and when it ends. */
export type Hash = { hash: string; expires_at: Date | null };

export const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** A new token of 32 random bytes. */
export const newToken = (randomBytes: (size: number) => Buffer): string =>
  `hk_${randomBytes(32).toString("base64url")}`;

/** Whether a text has the form of a token of ours: `hk_` and 32 bytes in base64url. */
export const isToken = (text: string | undefined): text is string => /^hk_[A-Za-z0-9_-]{43}$/.test(text ?? "");

export type HashInput = {
  /** The token that is, or is about to be, in the connection Secret. */
  token: string;
  /** Hashes of the tokens that somebody has. */
  known: readonly Hash[];
  expiresAt: Date | null;
  /** How long a replaced token still works. */
  overlapMs: number;
  now: Date;
};

/** The hashes until the token is in the Secret. All that are in use stay valid: the write of the Secret may fail. */
export const hashesBefore = ({ token, known, expiresAt }: Omit<HashInput, "overlapMs" | "now">): Hash[] => {
  const current = { hash: hashOf(token), expires_at: expiresAt };
  return [current, ...known.filter(({ hash }) => hash !== current.hash)];
};

/** The hashes once the token is in the Secret. Those that it replaced stay valid for the overlap. */
export const hashesAfter = ({ overlapMs: forMs, now, ...input }: HashInput): Hash[] => {
  const latest = new Date(now.getTime() + forMs);
  const hashes = hashesBefore(input);
  const replaced = hashes.slice(1).map(({ hash, expires_at }) => ({ hash, expires_at: sooner(expires_at, latest) }));
  const valid = replaced.filter(({ expires_at }) => expires_at > now);
  return [...hashes.slice(0, 1), ...valid.slice(0, maxOverlapping)];
};

const maxOverlapping = 5; // with more rotations within the overlap the oldest token ends sooner

const sooner = (a: Date | null, b: Date): Date => (a !== null && a < b ? a : b);
