import { randomBytes } from "node:crypto";
import { hashesAfter, newToken } from "#core/domain/api-keys/hashes.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { ApiKeyWithToken, RotateApiKey } from "#core/schema/api-keys/api-key.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { RevokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import type { Things } from "../settings/settings.ts";
import { withToken } from "./views.ts";

export type RotateDeps = {
  revoked: Pick<RevokedTokens, "add">;
  kept: Pick<Things<ApiKeyRow>, "write" | "attempt">;
  clock: Clock;
};

const hourMs = 3_600_000;
const usualOverlapHours = 24;

/** Gives a key another token. The one before works on for the overlap; what ends at once is remembered as revoked. */
export const rotateKey =
  ({ revoked, kept, clock }: RotateDeps) =>
  async (by: By, found: ApiKeyRow, { overlap_hours: hours }: RotateApiKey): Promise<ApiKeyWithToken> => {
    requireUnmanaged("api key", found, ["hashes"]);
    const now = clock.now();
    const token = newToken(randomBytes);
    const overlapMs = (hours ?? usualOverlapHours) * hourMs;
    const rotated = await kept.write(found, async (row) => {
      const expiresAt = row.hashes[0]?.expires_at ?? null;
      const hashes = hashesAfter({ token, known: row.hashes, expiresAt, overlapMs, now });
      const lasting = new Set(hashes.map(({ hash }) => hash));
      await revoked.add([{ hashes: row.hashes.filter(({ hash }) => !lasting.has(hash)) }], now);
      return kept.attempt(by, "rotated", row, { set: { hashes, rotated_at: now } });
    });
    return withToken(rotated, token);
  };
