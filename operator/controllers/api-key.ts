import { type ApiKeySpec, apiKeyResource } from "#core/schema/resources/api-key.ts";
import { resourceApiVersion } from "#core/schema/resources/definition.ts";
import { type ApiKeyRow, apiKeyCollection } from "#core/storage/api-keys.ts";
import type { ManagedRows } from "#core/storage/managed.ts";
import type { TenantRow, Tenants } from "#core/storage/tenants.ts";
import { type Finding, refused } from "../engine/conditions.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import { type Owner, type OwnSecret, rotateAnnotation, type Secrets } from "../kube/secrets.ts";
import { hashesOf, isRotationDue, isToken } from "../policies/tokens.ts";
import { type AppRefDeps, appOf } from "./app-ref.ts";
import { type Common, dropRow, idOf, isWritten, kept, keptFinding, managedBy, refusal } from "./common.ts";

export type ApiKeyDeps = Common &
  AppRefDeps & {
    keys: ManagedRows<ApiKeyRow>;
    tenants: Pick<Tenants, "holding">;
    secrets: Secrets;
    /** Address of the REST interface, as the key's users reach it. */
    baseUrl: string;
    newToken: () => string;
  };

type ApiKey = Resource<ApiKeySpec>;

/**
 * ApiKey: a document with the hashes of its tokens, and the connection Secret, which alone holds the token. A new
 * token's hash is valid before its Secret is written; when a crash comes between, the next pass makes another token and
 * drops the hash that nobody knows the token of.
 */
export const apiKeyHandler = (deps: ApiKeyDeps): Handler<ApiKey> => {
  const { keys, tenants, secrets, announce, clock } = deps;
  return {
    reconcile: async (key, signal) => {
      const [tenant = null] = await tenants.holding([key.metadata.namespace ?? ""]);
      const row = await keys.find(idOf("apiKey", key));
      const apps = await appsOf(deps, key);
      const before = await secrets.readOwn(ownerOf(key), key.spec.connectionSecretName, signal);
      const finding = tenantFinding(key, tenant, row) ?? apps.finding ?? secretFinding(key, before);
      if (finding !== null || tenant === null) return refusal(finding ?? tenantNotFound(key));
      return apply(deps, { key, tenant, row, appIds: apps.ids, before }, signal);
    },
    remove: async (key, signal) => {
      const { connectionSecretName, deletionPolicy } = key.spec;
      const drop = deletionPolicy === "Retain" ? secrets.releaseOwn : secrets.removeOwn;
      await dropRow({ rows: keys, collection: apiKeyCollection.name, announce, clock }, idOf("apiKey", key), key);
      await drop(ownerOf(key), connectionSecretName, signal);
      return null;
    },
  };
};

type Input = { key: ApiKey; tenant: TenantRow; row: ApiKeyRow | null; appIds: string[] | null; before: OwnSecret };

const apply = async (deps: ApiKeyDeps, input: Input, signal: AbortSignal): Promise<Verdict> => {
  const { key, tenant, row, appIds, before } = input;
  const now = deps.clock.now();
  const id = idOf("apiKey", key);
  const expiresAt = key.spec.expiresAt === undefined ? null : new Date(key.spec.expiresAt);
  const { token, replaced } = tokenOf(key, before, deps.newToken);
  const stored = before.kind === "own" ? (row?.hashes ?? []) : []; // without its Secret nothing old may go on
  const hashes = hashesOf({ token, replaced, stored, expiresAt, now });
  const { displayName, scopes } = key.spec;
  const set = { tenant_id: tenant._id, app_ids: appIds, name: displayName ?? key.metadata.name, scopes, hashes };
  const begin = { revoked_at: null, created_at: now };
  const result = await deps.keys.keep({ id, found: row, managed: managedBy(apiKeyResource, key), set, begin }, now);
  if (isWritten(result)) deps.announce(apiKeyCollection.name, id);
  const conflict = keptFinding(result, "key");
  if (conflict !== null) return refusal(conflict);
  const isSecretWritten = await writeSecret(deps, { ...input, token }, signal);
  return verdictOf(kept("key", result, { id, ...timesOf(hashes) }), { hashes, now, isSecretWritten });
};

/** The token that is to be in the Secret, and the one that it replaces, if it is to live on for a while. */
const tokenOf = (
  { metadata }: ApiKey,
  before: OwnSecret,
  newToken: () => string,
): { token: string; replaced: string | null } => {
  const current = before.kind === "own" ? before.values["token"] : undefined;
  if (before.kind !== "own" || !isToken(current)) return { token: newToken(), replaced: null };
  const isRotated = isRotationDue(metadata.annotations?.[rotateAnnotation], before.rotatedFor);
  return isRotated ? { token: newToken(), replaced: current } : { token: current, replaced: null };
};

const writeSecret = async (
  { secrets, baseUrl }: ApiKeyDeps,
  { key, appIds, before, token }: Input & { token: string },
  signal: AbortSignal,
): Promise<boolean> => {
  const [appId, ...others] = appIds ?? [];
  const isForOne = appId !== undefined && others.length === 0;
  const values = { token, base_url: baseUrl, ...(isForOne ? { app_id: appId } : {}) };
  const rotatedFor = key.metadata.annotations?.[rotateAnnotation] ?? null;
  if (before.kind === "own" && before.rotatedFor === rotatedFor && isSame(before.values, values)) return false;
  await secrets.writeOwn(ownerOf(key), key.spec.connectionSecretName, { before, values, rotatedFor }, signal);
  return true;
};

const isSame = (a: Record<string, string>, b: Record<string, string>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(b).every(([key, value]) => a[key] === value);

type Hashes = ApiKeyRow["hashes"];

const timesOf = ([current, ...overlapping]: Hashes): Record<string, string> => {
  const until = latestOf(overlapping);
  return {
    ...(current?.expires_at && { expiresAt: current.expires_at.toISOString() }),
    ...(until && { previousTokenValidUntil: until.toISOString() }),
  };
};

const latestOf = (hashes: Hashes): Date | null =>
  hashes.map(({ expires_at }) => expires_at).sort((a, b) => (b?.getTime() ?? 0) - (a?.getTime() ?? 0))[0] ?? null;

const verdictOf = (
  verdict: Verdict,
  { hashes, now, isSecretWritten }: { hashes: Hashes; now: Date; isSecretWritten: boolean },
): Verdict => {
  const expiresAt = hashes[0]?.expires_at ?? null;
  const isExpired = expiresAt !== null && expiresAt <= now;
  const ends = hashes.flatMap(({ expires_at }) =>
    expires_at !== null && expires_at > now ? expires_at.getTime() : [],
  );
  return {
    ...verdict,
    ...(isExpired && { ready: refused("Expired", `the key expired at ${expiresAt.toISOString()}`) }),
    ...(ends.length > 0 && { requeueAfterMs: Math.min(maxTimerMs, Math.min(...ends) - now.getTime() + 1_000) }),
    isChanged: verdict.isChanged || isSecretWritten,
  };
};

const maxTimerMs = 86_400_000; // setTimeout ends at 24 days; the resync comes sooner anyway

const appsOf = async (deps: ApiKeyDeps, key: ApiKey): Promise<{ ids: string[] | null; finding: Finding | null }> => {
  if (key.spec.appRefs === undefined) return { ids: null, finding: null };
  const refs = await Promise.all(key.spec.appRefs.map((name) => appOf(deps, key, name))); // at most 50, by its schema
  const missing = refs.find((ref) => ref.kind !== "found");
  if (missing !== undefined) return { ids: [], finding: missing.finding };
  return { ids: refs.flatMap((ref) => (ref.kind === "found" ? ref.row._id : [])).sort(), finding: null };
};

const tenantNotFound = ({ metadata }: ApiKey): Finding =>
  refused("TenantNotFound", `no tenant owns the namespace ${metadata.namespace ?? ""}`);

const tenantFinding = (key: ApiKey, tenant: TenantRow | null, row: ApiKeyRow | null): Finding | null => {
  if (tenant === null) return tenantNotFound(key);
  if (row === null || row.tenant_id === tenant._id) return null;
  return refused(
    "TenantChanged",
    "the namespace now belongs to another tenant; a key stays with the one it was made for",
  );
};

const secretFinding = ({ spec }: ApiKey, before: OwnSecret): Finding | null =>
  before.kind === "foreign"
    ? refused("SecretConflict", `Secret ${spec.connectionSecretName} exists and is not this key's; it is left alone`)
    : null;

const ownerOf = (resource: ApiKey): Owner => ({ apiVersion: resourceApiVersion, kind: apiKeyResource.kind, resource });
