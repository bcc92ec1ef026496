import { type ApiKeySpec, apiKeyResource } from "#core/schema/api-keys/resource.ts";
import { type ApiKeyRow, apiKeyCollection } from "#core/storage/api-keys/api-keys.ts";
import type { ManagedRows } from "#core/storage/settings/managed.ts";
import type { TenantRow, Tenants } from "#core/storage/tenants/tenants.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import { type OwnSecret, retaken, rotateAnnotation } from "../kube/secrets.ts";
import type { Store } from "../kube/store.ts";
import { type KeySecretDeps, ownerOf, secretConflict, writeSecret } from "../policies/api-keys/connection-secret.ts";
import { hashesAfter, hashesBefore } from "../policies/api-keys/hashes.ts";
import { madeAtOf, nextRotationAt, overlapMsOf } from "../policies/api-keys/rotation.ts";
import { statusOf } from "../policies/api-keys/status.ts";
import { isTokenOf, keyTokensOf } from "../policies/api-keys/token.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { idOf, isRetained } from "../policies/management.ts";
import { type AppRefDeps, appOfTenant } from "../records/app-ref.ts";
import { type Common, kept, noTenant, refusal } from "../records/platform.ts";
import { type MayWrite, type Place, type Records, records, type Wanted } from "../records/record.ts";
import { type Made, requireHolder } from "../records/tenant-ref.ts";

export type ApiKeyDeps = Common &
  AppRefDeps &
  KeySecretDeps & {
    keys: ManagedRows<ApiKeyRow>;
    store: Pick<Store<ApiKey>, "by">;
    tenants: Pick<Tenants, "holding">;
    newToken: () => string;
  };

/** `tenantId` is written when everything else is: the Secret's token is this tenant's. */
type ApiKey = Resource<ApiKeySpec, { id?: string; tenantId?: string }>;

/**
 * ApiKey: a document with the hashes of its tokens, and the connection Secret, which alone holds the token. A new
 * token's hash is valid before its Secret is written, and those that it replaces end after it; when a crash comes between,
 * the next pass makes another token and drops the hash that nobody knows the token of.
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
        return apply(deps, record, { key, tenant, stand, members, appIds: apps.ids }, signal);
      }
      return record.tell(key, stand, {
        describe: (row) => ({ status: { ...madeFor(key, row), ...statusOf(key.spec, row) }, members }),
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

type Input = {
  key: ApiKey;
  tenant: TenantRow;
  stand: MayWrite<ApiKeyRow>;
  members: Partial<ApiKeyRow>;
  appIds: string[] | null;
};

const apply = async (
  deps: ApiKeyDeps,
  record: Records<ApiKey, ApiKeyRow>,
  input: Input,
  signal: AbortSignal,
): Promise<Verdict> => {
  const { key, tenant, stand, members } = input;
  const problem = record.problem(key, stand, { set: members });
  if (problem !== null) return problem;
  const found = await deps.secrets.readOwn(ownerOf(key), key.spec.connectionSecretName, signal);
  const before = retaken(found, (values) => isTokenOf(stand.row, values["token"]));
  if (before.kind === "foreign") return refusal(secretConflict(key));
  const now = deps.clock.now();
  const { token, isNew, first, last } = wantedOf(deps, input, { before, now });
  const result = await record.keep(key, stand, first);
  if ("verdict" in result) return result.verdict;
  if (result.kept === "created") await requireHolder(deps, key, madeOf(deps, key, tenant));
  const isReplaced = isNew && (stand.row !== null || before.kind === "own");
  const isSecretWritten = await writeSecret(deps, { ...input, before, token, isReplaced }, signal);
  if (isNew) await settle(record, key, tenant, last);
  const status = { id: idOf(apiKeyResource, key), tenantId: tenant._id, ...statusOf(key.spec, last.set) };
  const nextAt = nextRotationAt(key.spec, last.set.rotated_at);
  return verdictOf(kept(key, "key", { ...result, ...status }), { ...last.set, nextAt, now, isSecretWritten });
};

type WantedKey = Wanted<ApiKeyRow> & { set: Pick<ApiKeyRow, "hashes"> & { rotated_at: Date } };

/** The token that is to be in the Secret, and the record until it is, and from then on. */
const wantedOf = (
  { newToken }: ApiKeyDeps,
  { key, tenant, stand: { row }, members }: Input,
  { before, now }: { before: OwnSecret; now: Date },
): { token: string; isNew: boolean; first: WantedKey; last: WantedKey } => {
  const { metadata, spec, status } = key;
  const asked = metadata.annotations?.[rotateAnnotation];
  const isMade = status?.tenantId === tenant._id;
  const { held, known } = keyTokensOf({ spec, asked, uid: metadata.uid, isMade, row, before, now });
  const token = held ?? newToken();
  const expiresAt = spec.expiresAt === undefined ? null : new Date(spec.expiresAt);
  const hashing = { token, known, expiresAt, overlapMs: overlapMsOf(spec), now };
  const set = { ...members, hashes: hashesAfter(hashing), rotated_at: madeAtOf(token, { stored: row, now }) };
  const last = { set, begin: { created_at: now } };
  if (held !== null) return { token, isNew: false, first: last, last };
  const meanwhile = { hashes: hashesBefore(hashing), revoked_at: row?.revoked_at ?? null };
  return { token, isNew: true, first: { ...last, set: { ...set, ...meanwhile } }, last };
};

/** Ends what the token in the Secret replaced. */
const settle = async (
  record: Records<ApiKey, ApiKeyRow>,
  key: ApiKey,
  tenant: TenantRow,
  wanted: WantedKey,
): Promise<void> => {
  const stand = await record.look(key, ofTenant(tenant));
  const result = stand.kind === "write" && stand.row !== null ? await record.keep(key, stand, wanted) : null;
  if (result === null || "verdict" in result) throw new Error(`the key ${idOf(apiKeyResource, key)} changed hands`);
};

const membersOf = ({ metadata, spec }: ApiKey, tenant: TenantRow, appIds: string[] | null): Partial<ApiKeyRow> => ({
  tenant_id: tenant._id,
  app_ids: appIds,
  name: spec.displayName ?? metadata.name,
  scopes: spec.scopes,
  revoked_at: null,
});

const madeOf = ({ keys }: ApiKeyDeps, key: ApiKey, tenant: TenantRow): Made<ApiKeyRow> => ({
  rows: keys,
  collection: apiKeyCollection.name,
  id: idOf(apiKeyResource, key),
  tenantId: tenant._id,
});

/** An observed key's Secret is not ours. */
const madeFor = ({ spec }: ApiKey, { tenant_id }: ApiKeyRow): { tenantId?: string } =>
  spec.managementPolicy === "Observe" ? {} : { tenantId: tenant_id };

type Facts = { hashes: ApiKeyRow["hashes"]; nextAt: Date | null; now: Date; isSecretWritten: boolean };

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
