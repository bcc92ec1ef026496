import { type ApiKeySpec, apiKeyResource } from "#core/schema/resources/api-key.ts";
import { resourceApiVersion } from "#core/schema/resources/definition.ts";
import { type ApiKeyRow, apiKeyCollection } from "#core/storage/api-keys.ts";
import type { ManagedRows } from "#core/storage/managed.ts";
import type { TenantRow, Tenants } from "#core/storage/tenants.ts";
import { type Finding, refused } from "../engine/conditions.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import { type Owner, type OwnSecret, retaken, rotateAnnotation, type Secrets } from "../kube/secrets.ts";
import type { Store } from "../kube/store.ts";
import { idOf, isRetained } from "../policies/management.ts";
import { isReplacementDue, madeAtOf, nextRotationAt, overlapMsOf } from "../policies/rotation.ts";
import { endingBy, hashesOf, hashOf, isToken, overlapMs } from "../policies/tokens.ts";
import { type AppRefDeps, appOfTenant } from "./app-ref.ts";
import { type Common, kept, noTenant, refusal } from "./common.ts";
import { type MayWrite, type Place, type Records, records } from "./record.ts";

export type ApiKeyDeps = Common &
  AppRefDeps & {
    keys: ManagedRows<ApiKeyRow>;
    store: Pick<Store<ApiKey>, "by">;
    tenants: Pick<Tenants, "holding">;
    secrets: Secrets;
    /** Address of the REST interface, as the key's users reach it. */
    baseUrl: string;
    newToken: () => string;
  };

type ApiKey = Resource<ApiKeySpec, { id?: string }>;

/**
 * ApiKey: a document with the hashes of its tokens, and the connection Secret, which alone holds the token. A new
 * token's hash is valid before its Secret is written; when a crash comes between, the next pass makes another token and
 * drops the hash that nobody knows the token of.
 */
export const apiKeyHandler = (deps: ApiKeyDeps): Handler<ApiKey> => {
  const { keys, tenants, secrets } = deps;
  const kind = { definition: apiKeyResource, rows: keys, collection: apiKeyCollection.name, what: "key" };
  const record = records({ ...deps, ...kind });
  return {
    reconcile: async (key, signal) => {
      const [tenant] = await tenants.holding([key.metadata.namespace ?? ""]);
      if (tenant === undefined) return refusal(noTenant(key));
      const stand = await record.look(key, ofTenant(tenant));
      const apps = await appsOf(deps, key, tenant._id);
      const members = membersOf(key, tenant, apps.ids);
      if (stand.kind === "write") {
        if (apps.finding !== null) return refusal(apps.finding);
        return apply(deps, record, { key, stand, members, appIds: apps.ids }, signal);
      }
      return record.tell(key, stand, {
        describe: (row) => ({ status: statusOf(key, row), members }),
        letGo: () => secrets.releaseOwn(ownerOf(key), key.spec.connectionSecretName, signal),
      });
    },
    remove: async (key, signal) => {
      await record.drop(key);
      const dropSecret = isRetained(key) ? secrets.releaseOwn : secrets.removeOwn;
      await dropSecret(ownerOf(key), key.spec.connectionSecretName, signal);
      return null;
    },
  };
};

const ofTenant = ({ _id, namespaces }: TenantRow): Place<ApiKey, ApiKeyRow> => ({
  belongs: (row) => row.tenant_id === _id,
  isPeer: ({ metadata }) => namespaces.includes(metadata.namespace ?? ""),
});

type Input = { key: ApiKey; stand: MayWrite<ApiKeyRow>; members: Partial<ApiKeyRow>; appIds: string[] | null };

const apply = async (
  deps: ApiKeyDeps,
  record: Records<ApiKey, ApiKeyRow>,
  input: Input,
  signal: AbortSignal,
): Promise<Verdict> => {
  const { key, stand, members } = input;
  const problem = record.problem(key, stand, { set: members });
  if (problem !== null) return problem;
  const now = deps.clock.now();
  const found = await deps.secrets.readOwn(ownerOf(key), key.spec.connectionSecretName, signal);
  const before = retaken(found, (values) => isTokenOf(stand.row, values["token"]));
  if (before.kind === "foreign") return refusal(secretConflict(key));
  const row = before.kind === "own" ? stand.row : null; // without its Secret nothing old may go on
  const { token, replaced } = tokenOf(deps, { key, before, row }, now);
  const madeAt = madeAtOf(token, { stored: row, now });
  const hashes = hashesOf({ ...hashInput(key, row ?? takenOver(stand.row, now)), token, replaced, now });
  const wanted = { set: { ...members, hashes, rotated_at: madeAt }, begin: { revoked_at: null, created_at: now } };
  const result = await record.keep(key, stand, wanted);
  if ("verdict" in result) return result.verdict;
  const isSecretWritten = await writeSecret(deps, { ...input, before, token }, signal);
  const status = { id: idOf(apiKeyResource, key), ...statusOf(key, { hashes, rotated_at: madeAt }) };
  const nextAt = nextRotationAt(key.spec, madeAt);
  return verdictOf(kept(key, "key", { ...result, ...status }), { hashes, nextAt, now, isSecretWritten });
};

const isTokenOf = (row: ApiKeyRow | null, token = ""): boolean =>
  row?.hashes.some(({ hash }) => hash === hashOf(token)) ?? false;

/** A key that is taken over without its Secret gets another token; the former ones still work for a while. */
const takenOver = (row: ApiKeyRow | null, now: Date): Pick<ApiKeyRow, "hashes"> =>
  row?.managed === null ? { hashes: endingBy(row.hashes, new Date(now.getTime() + overlapMs)) } : { hashes: [] };

const hashInput = ({ spec }: ApiKey, { hashes }: Pick<ApiKeyRow, "hashes">) => ({
  stored: hashes,
  expiresAt: spec.expiresAt === undefined ? null : new Date(spec.expiresAt),
  overlapMs: overlapMsOf(spec),
});

const membersOf = ({ metadata, spec }: ApiKey, tenant: TenantRow, appIds: string[] | null): Partial<ApiKeyRow> => ({
  tenant_id: tenant._id,
  app_ids: appIds,
  name: spec.displayName ?? metadata.name,
  scopes: spec.scopes,
});

const statusOf = (key: ApiKey, { hashes, rotated_at }: Pick<ApiKeyRow, "hashes" | "rotated_at">) => ({
  ...timesOf(hashes),
  ...(rotated_at && rotationTimes(rotated_at, nextRotationAt(key.spec, rotated_at))),
});

/** The token that is to be in the Secret, and the one that it replaces, if it is to live on for a while. */
const tokenOf = (
  { newToken }: ApiKeyDeps,
  { key: { metadata, spec }, before, row }: { key: ApiKey; before: OwnSecret; row: ApiKeyRow | null },
  now: Date,
): { token: string; replaced: string | null } => {
  const token = before.kind === "own" ? before.values["token"] : undefined;
  if (before.kind !== "own" || !isToken(token)) return { token: newToken(), replaced: null };
  const asked = metadata.annotations?.[rotateAnnotation];
  const isDue = isReplacementDue({ spec, asked, rotatedFor: before.rotatedFor, token, stored: row, now });
  return isDue ? { token: newToken(), replaced: token } : { token, replaced: null };
};

const writeSecret = async (
  { secrets, baseUrl }: ApiKeyDeps,
  { key, appIds, before, token }: Pick<Input, "key" | "appIds"> & { before: OwnSecret; token: string },
  signal: AbortSignal,
): Promise<boolean> => {
  const [appId, ...others] = appIds ?? [];
  const isForOne = appId !== undefined && others.length === 0;
  const values = { token, base_url: baseUrl, ...(isForOne ? { app_id: appId } : {}) };
  const rotatedFor = key.metadata.annotations?.[rotateAnnotation] ?? null;
  const isThere = before.kind === "own" && before.isOwned && before.rotatedFor === rotatedFor;
  if (isThere && isSame(before.values, values)) return false;
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

const rotationTimes = (madeAt: Date, nextAt: Date | null): Record<string, string> => ({
  lastRotatedAt: madeAt.toISOString(),
  ...(nextAt && { nextRotationAt: nextAt.toISOString() }),
});

const latestOf = (hashes: Hashes): Date | null =>
  hashes.map(({ expires_at }) => expires_at).sort((a, b) => (b?.getTime() ?? 0) - (a?.getTime() ?? 0))[0] ?? null;

type Facts = { hashes: Hashes; nextAt: Date | null; now: Date; isSecretWritten: boolean };

/** The verdict, with the instant at which the next token ends or begins. */
const verdictOf = (verdict: Verdict, { hashes, nextAt, now, isSecretWritten }: Facts): Verdict => {
  const expiresAt = hashes[0]?.expires_at ?? null;
  const isExpired = expiresAt !== null && expiresAt <= now;
  const times = [...hashes.map(({ expires_at }) => expires_at), nextAt];
  const ends = times.flatMap((at) => (at !== null && at > now ? at.getTime() : []));
  return {
    ...verdict,
    ...(isExpired && { ready: refused("Expired", `the key expired at ${expiresAt.toISOString()}`) }),
    ...(ends.length > 0 && { requeueAfterMs: Math.min(maxTimerMs, Math.min(...ends) - now.getTime() + 1_000) }),
    isChanged: verdict.isChanged || isSecretWritten,
  };
};

const maxTimerMs = 86_400_000; // setTimeout ends at 24 days; the resync comes sooner anyway

const appsOf = async (
  deps: ApiKeyDeps,
  key: ApiKey,
  tenantId: string,
): Promise<{ ids: string[] | null; finding: Finding | null }> => {
  if (key.spec.appRefs === undefined) return { ids: null, finding: null };
  const refs = await Promise.all(key.spec.appRefs.map((name) => appOfTenant(deps, key, name, tenantId))); // at most 50, by its schema
  const missing = refs.find((ref) => ref.kind !== "found");
  if (missing !== undefined) return { ids: [], finding: missing.finding };
  return { ids: refs.flatMap((ref) => (ref.kind === "found" ? ref.row._id : [])).sort(), finding: null };
};

const secretConflict = ({ spec }: ApiKey): Finding =>
  refused("SecretConflict", `Secret ${spec.connectionSecretName} exists and is not this key's; it is left alone`);

const ownerOf = (resource: ApiKey): Owner => ({ apiVersion: resourceApiVersion, kind: apiKeyResource.kind, resource });
