import { randomBytes } from "node:crypto";
import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { By } from "../settings/audit.ts";
import type { Settings } from "../settings/settings.ts";

export type SecretDeps = { secrets: Pick<KeyRing, "seal">; clock: Clock };

/** `whsec_` and base64 of 32 random bytes. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

/** Where the secret of an endpoint is sealed for. */
export const secretPlace = (id: string): string => `webhooks/${id}/secret`;

/** How long the former secret signs, too. Source: docs/reference/webhooks.md#secrets. */
const overlapMs = dayMs;

/** Whether an endpoint was given a new secret since an instant. */
export const isRotatedSince = ({ previous_secret: previous }: WebhookRow, since: Date): boolean =>
  previous !== null && previous.expires_at.getTime() - overlapMs >= since.getTime();

/** Gives an endpoint a new secret. Of several rotations within a day the oldest secrets are dropped: two sign at most. */
export const rotateSecret =
  ({ settings, limit, secrets }: SecretDeps & { settings: Pick<Settings<WebhookRow>, "change">; limit: NarrowLimit }) =>
  async (by: By, found: WebhookRow): Promise<WebhookRow> => {
    await limit("webhooks.rotate_secret", found._id);
    const secret = secrets.seal(newSecret(), secretPlace(found._id));
    return settings.change(by, "secret_rotated", found, ({ secret: former }, now) => ({
      set: { secret, previous_secret: { secret: former, expires_at: new Date(now.getTime() + overlapMs) } },
    }));
  };
