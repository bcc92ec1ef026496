import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { By } from "../settings/audit.ts";
import { changeWebhook } from "./change.ts";
import { secretPlace, type WithSecret } from "./create.ts";
import type { WebhookDeps } from "./deps.ts";

/** How long requests carry the former secret's signature too. Source: spec 4.5. */
const overlapMs = 86_400_000;

const allowance = { calls: 10, seconds: 60 };

/** Whether an endpoint was given a new secret since an instant. */
export const isRotatedSince = ({ previous_secret: previous }: WebhookRow, since: Date): boolean =>
  previous !== null && previous.expires_at.getTime() - overlapMs >= since.getTime();

/** Gives an endpoint a new secret. Of several rotations within a day the oldest secrets are dropped: two sign at most. */
export const rotateSecret =
  (deps: WebhookDeps) =>
  async (by: By, found: WebhookRow): Promise<WithSecret> => {
    await deps.limit("webhooks.rotate_secret", found._id, allowance);
    const secret = deps.newSecret();
    const sealed = deps.seal(secret, secretPlace(found._id));
    const row = await changeWebhook(deps, { by, verb: "secret_rotated", found }, ({ secret: former }, now) => ({
      set: {
        secret: sealed,
        previous_secret: { secret: former, expires_at: new Date(now.getTime() + overlapMs) },
      },
      isDue: false,
    }));
    return { row, secret };
  };
