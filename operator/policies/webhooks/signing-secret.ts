import type { Resource } from "#core/runtime/kube/objects.ts";
import { ifOpenable, type KeyRing } from "#core/runtime/process/key-ring.ts";
import type { WebhookSpec, WebhookStatus } from "#core/schema/webhooks/resource.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { FoundSecret, OwnSecret } from "../../kube/secrets.ts";
import { isRotationDue, retaken, rotateAnnotation } from "../own-secret.ts";

export type SigningInput = {
  webhook: Resource<WebhookSpec, WebhookStatus>;
  id: string;
  appId: string;
  row: WebhookRow | null;
  now: Date;
  found: FoundSecret;
};

export type Signing = {
  before: OwnSecret;
  /** The signing secret that is to be in the Secret. */
  secret: string;
  /** Whether it takes the place of another. */
  isReplaced: boolean;
  /** Its members of the document. */
  sealed: Pick<WebhookRow, "secret" | "previous_secret">;
};

/** The signing secret of an endpoint; null when its Secret is somebody else's. `make` gives a new one. */
export const signingOf = (keyRing: KeyRing, input: SigningInput, make: () => string): Signing | null => {
  const { id, row, found } = input;
  const opened = row === null ? null : ifOpenable(() => keyRing.open(row.secret, contextOf(id)));
  const before = retaken(found, ({ secret }) => secret !== undefined && secret === opened);
  if (before.kind === "foreign") return null;
  const secret = secretOf(input, { before, opened, make });
  const inUse = opened ?? (before.kind === "own" ? before.values["secret"] : undefined);
  const isReplaced = inUse === undefined ? row !== null : inUse !== secret; // unknown when the key ring has lost the key
  return { before, secret, isReplaced, sealed: sealedOf(keyRing, { ...input, opened, secret }) };
};

/**
 * The value in the Secret counts; when it is lost, the stored one is written back. After its app was removed a signing
 * secret is not used for the next app of that name, because the namespace may be another tenant's.
 */
const secretOf = (
  { webhook: { metadata, status }, row, appId }: SigningInput,
  { before, opened, make }: { before: OwnSecret; opened: string | null; make: () => string },
): string => {
  const current = before.kind === "own" ? before.values["secret"] : undefined;
  if (before.kind !== "own" || !isSigningSecret(current)) return opened ?? make();
  if (row === null && status?.appId !== undefined && status.appId !== appId) return make();
  return isRotationDue(metadata.annotations?.[rotateAnnotation], before.rotatedFor) ? make() : current;
};

/** Whether a text has the form of a signing secret of ours: `whsec_` and 32 bytes in base64. */
const isSigningSecret = (text: string | undefined): text is string => /^whsec_[A-Za-z0-9+/]{43}=$/.test(text ?? "");

/** How long a replaced signing secret still signs. */
const overlapMs = 24 * 3_600_000;

/** A changed secret makes the stored one the previous, for a day. */
const sealedOf = (
  keyRing: KeyRing,
  { id, row, opened, secret, now }: SigningInput & { opened: string | null; secret: string },
): Signing["sealed"] => {
  const sealed = () => keyRing.seal(secret, contextOf(id));
  if (row === null || opened === null) return { secret: sealed(), previous_secret: null };
  if (opened !== secret) {
    const previous = { secret: row.secret, expires_at: new Date(now.getTime() + overlapMs) };
    return { secret: sealed(), previous_secret: previous };
  }
  const isOver = row.previous_secret !== null && row.previous_secret.expires_at <= now;
  return {
    secret: keyRing.isStale(row.secret) ? sealed() : row.secret,
    previous_secret: isOver ? null : row.previous_secret,
  };
};

const contextOf = (id: string): string => `webhooks/${id}/secret`;
