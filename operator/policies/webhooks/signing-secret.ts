import type { Sealed } from "#core/runtime/process/key-ring.ts";
import { type KeyRing, KeyRingError } from "#core/runtime/process/key-ring.ts";
import { resourceApiVersion } from "#core/schema/kubernetes/definition.ts";
import { type WebhookSpec, type WebhookStatus, webhookResource } from "#core/schema/webhooks/resource.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Resource } from "../../kube/objects.ts";
import {
  type FoundSecret,
  type Owner,
  type OwnSecret,
  retaken,
  rotateAnnotation,
  type Secrets,
} from "../../kube/secrets.ts";
import { isRotationDue, isSigningSecret, overlapMs } from "../api-keys/hashes.ts";
import { type Finding, refused } from "../conditions.ts";

export type SigningDeps = { secrets: Secrets; ring: KeyRing; newSigningSecret: () => string };

type Webhook = Resource<WebhookSpec, WebhookStatus>;
type Input = {
  webhook: Webhook;
  id: string;
  appId: string;
  row: WebhookRow | null;
  now: Date;
  /** The Secret as it was found: it is not written when it has changed since. */
  found: FoundSecret;
};
type SealedSecrets = Pick<WebhookRow, "secret" | "previous_secret">;

/**
 * Writes the Secret with the signing secret and gives its members of the document, or says why it cannot. The Secret is
 * written first and the document follows it, so that receivers know a new signing secret before it is used.
 */
export const keepSigningSecret = async (
  deps: SigningDeps,
  input: Input,
  signal: AbortSignal,
): Promise<{ sealed: SealedSecrets; isWritten: boolean } | { finding: Finding }> => {
  const { webhook, id, row, found } = input;
  const opened = row === null ? null : open(deps.ring, id, row.secret);
  const before = retaken(found, ({ secret }) => secret !== undefined && secret === opened);
  if (before.kind === "foreign") return { finding: conflict(webhook) };
  const secret = secretOf(input, { before, opened, make: deps.newSigningSecret });
  const inUse = opened ?? (before.kind === "own" ? before.values["secret"] : undefined);
  const isReplaced = inUse === undefined ? row !== null : inUse !== secret; // not known: the key ring lost its key
  const isWritten = await writeSecret(deps, { webhook, before, secret, isReplaced }, signal);
  return { sealed: sealedOf(deps.ring, { ...input, opened, secret }), isWritten };
};

/** The Webhook as the owner of its Secret. */
export const ownerOf = (resource: Webhook): Owner => ({
  apiVersion: resourceApiVersion,
  kind: webhookResource.kind,
  resource,
});

const conflict = ({ spec }: Webhook): Finding =>
  refused("SecretConflict", `Secret ${spec.secretName} exists and is not this webhook's; it is left alone`);

/**
 * The Secret's value counts; when it is lost, the stored one is written back. That of an app which is gone signs nothing
 * for the next one: the namespace may be another tenant's by now.
 */
const secretOf = (
  { webhook: { metadata, status }, row, appId }: Input,
  { before, opened, make }: { before: OwnSecret; opened: string | null; make: () => string },
): string => {
  const current = before.kind === "own" ? before.values["secret"] : undefined;
  if (before.kind !== "own" || !isSigningSecret(current)) return opened ?? make();
  if (row === null && status?.appId !== undefined && status.appId !== appId) return make();
  return isRotationDue(metadata.annotations?.[rotateAnnotation], before.rotatedFor) ? make() : current;
};

const writeSecret = async (
  { secrets }: SigningDeps,
  { webhook, before, secret, isReplaced }: { webhook: Webhook; before: OwnSecret; secret: string; isReplaced: boolean },
  signal: AbortSignal,
): Promise<boolean> => {
  const rotatedFor = webhook.metadata.annotations?.[rotateAnnotation] ?? null;
  const isThere =
    before.kind === "own" && before.isOwned && before.values["secret"] === secret && before.rotatedFor === rotatedFor;
  if (isThere) return false;
  const content = { before, values: { secret }, rotatedFor, replaced: isReplaced ? "secret" : null };
  await secrets.writeOwn(ownerOf(webhook), webhook.spec.secretName, content, signal);
  return true;
};

/** A changed secret makes the stored one the previous, for a day. */
const sealedOf = (
  ring: KeyRing,
  { id, row, opened, secret, now }: Input & { opened: string | null; secret: string },
): SealedSecrets => {
  const sealed = () => ring.seal(secret, contextOf(id));
  if (row === null || opened === null) return { secret: sealed(), previous_secret: null };
  if (opened !== secret) {
    const previous = { secret: row.secret, expires_at: new Date(now.getTime() + overlapMs) };
    return { secret: sealed(), previous_secret: previous };
  }
  const isOver = row.previous_secret !== null && row.previous_secret.expires_at <= now;
  return {
    secret: ring.isStale(row.secret) ? sealed() : row.secret,
    previous_secret: isOver ? null : row.previous_secret,
  };
};

const contextOf = (id: string): string => `webhooks/${id}/secret`;

const open = (ring: KeyRing, id: string, sealed: Sealed): string | null => {
  try {
    return ring.open(sealed, contextOf(id));
  } catch (error) {
    if (error instanceof KeyRingError) return null; // altered, or its key is gone: the Secret's value is sealed anew
    throw error;
  }
};
