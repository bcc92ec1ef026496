import { isDeepStrictEqual } from "node:util";
import { hashesAfter, hashesBefore, newToken } from "#core/domain/api-keys/hashes.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { type ApiKeySpec, apiKeyResource } from "#core/schema/api-keys/resource.ts";
import { tenantResource } from "#core/schema/tenants/resource.ts";
import { type ApiKeyRow, apiKeyCollection, apiKeys } from "#core/storage/api-keys/api-keys.ts";
import { rememberingRows, revokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { managedRows } from "#core/storage/settings/managed.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import { type Handler, refusal, type Verdict } from "../engine/handler.ts";
import { beside, link, namespaceOf } from "../engine/links.ts";
import type { OwnSecret } from "../kube/secrets.ts";
import { madeAtOf, nextRotationAt, overlapMsOf } from "../policies/api-keys/rotation.ts";
import { expiry, statusOf } from "../policies/api-keys/status.ts";
import { isTokenOf, keyTokensOf } from "../policies/api-keys/token.ts";
import type { Finding } from "../policies/conditions.ts";
import { retaken, rotateAnnotation } from "../policies/own-secret.ts";
import { defineKind, type Tools } from "../records/kind.ts";
import { ownSecret } from "../records/own-secret.ts";
import { appLink, appOf, appOfTenant, inTenant, noTenant, ofTenant, tenantOf } from "../records/owner-refs.ts";
import type { MayWrite } from "../records/record-deps.ts";
import type { DesiredRow } from "../records/writes.ts";

/** `tenantId` is written last: it says that the Secret's token is this tenant's. */
type ApiKey = Resource<ApiKeySpec, { id?: string; tenantId?: string }>;
type Deps = Tools<ApiKey, ApiKeyRow>;

const connectionSecret = ownSecret<ApiKey>(apiKeyResource, {
  what: "key",
  credential: "token",
  nameOf: ({ spec }) => spec.connectionSecretName,
});

/**
 * ApiKey: a document with the hashes of its tokens, and the connection Secret, which alone holds the token. A new
 * token's hash is stored before the Secret is written, and the hashes that it replaces end afterwards. After a crash in
 * between the next pass makes another token and drops the hash whose token nobody knows.
 */
export const apiKey = defineKind<ApiKey, ApiKeyRow>({
  definition: apiKeyResource,
  what: "key",
  collection: apiKeyCollection,
  rows: ({ db, fence, clock }) =>
    rememberingRows(managedRows(collectionOf<ApiKeyRow>(db, apiKeyCollection), fence), revokedTokens(db), clock.now),
  goesWithOwner: {
    index: "tenant",
    before: async ({ db, clock }, ids) => revokedTokens(db).add(await apiKeys(db).findAll(ids), clock.now()),
  },
  ownSecret: connectionSecret,
  indexes: { namespace: namespaceOf, app: (key) => (key.spec.appRefs ?? []).map((name) => beside(key, name)) },
  links: [link(tenantResource, "namespace", ({ spec }) => spec.namespaces), appLink],
  inputs: (tools) => async (key) => {
    const read = [tools.rows.find(tools.record.idOf(key)), tenantOf(tools, key)] as const;
    const apps = (key.spec.appRefs ?? []).map((name) => appOf(tools, key, name)); // at most 50, by its schema
    const [row, ...others] = await Promise.all([...read, ...apps]);
    return [row && { ...row, last_used_at: null }, ...others]; // that it is used makes no pass
  },
  handler: (deps) => handler(deps),
});

const handler = (deps: Deps): Handler<ApiKey> => {
  const { record } = deps;
  return {
    reconcile: async (key, signal) => {
      const tenant = await tenantOf(deps, key);
      if (tenant === undefined) return refusal(noTenant(key));
      const stand = await record.look(key, inTenant(tenant));
      const apps = await appsOf(deps, key, tenant._id);
      const row = stand.kind === "refused" ? null : stand.row;
      const members = { ...membersOf(key, tenant, apps.ids), ...addressesOf(key.spec, row) };
      if (stand.kind !== "write") {
        const describe = (row: ApiKeyRow) => ({
          status: { ...madeFor(key, row), ...statusOf(key.spec, row) },
          members,
        });
        return record.report(key, stand, describe, signal);
      }
      if (apps.finding !== null) return refusal(apps.finding);
      return apply(deps, { key, tenant, stand, members }, signal);
    },
    remove: async (key, signal) => record.drop(key, {}, signal, await ofTenant(deps, key)),
  };
};

type Input = { key: ApiKey; tenant: TenantRow; stand: MayWrite<ApiKeyRow>; members: Members };

const apply = async (deps: Deps, input: Input, signal: AbortSignal): Promise<Verdict> => {
  const { record, secrets, clock } = deps;
  const { key, tenant, stand, members } = input;
  const problem = record.problem(key, stand, { set: members, members: ownedBy(key) });
  if (problem !== null) return problem;
  const found = await connectionSecret.find(secrets, key, signal);
  const before = retaken(found, (values) => isTokenOf(stand.row, values["token"]));
  if (before.kind === "foreign") return refusal(connectionSecret.conflict(key));
  const now = clock.now();
  const wanted = wantedOf(deps, input, { before, now });
  const { token, isNew, first, last } = wanted;
  const result = await record.keep(key, stand, first);
  if ("verdict" in result) return result.verdict;
  if (result.kept === "created") await record.requireTenant(key, tenant._id);
  const isReplaced = isNew && (stand.row !== null || before.kind === "own");
  const isSecretWritten = await writeSecret(deps, { key, members, before, token, isReplaced }, signal);
  if (isNew) await endFormer(deps, key, tenant, last);
  const verdict = record.kept(key, result, { tenantId: tenant._id, ...statusOf(key.spec, last.set) });
  const isChanged = verdict.isChanged || isSecretWritten;
  return { ...verdict, ...expiry(last.set.hashes, nextRotationAt(key.spec, last.set.rotated_at), now), isChanged };
};

type DesiredKey = DesiredRow<ApiKeyRow> & { set: Pick<ApiKeyRow, "hashes"> & { rotated_at: Date } };

/** The token that is to be in the Secret, and the record before (`first`) and after (`last`) the Secret is written. */
const wantedOf = (
  { randomBytes }: Deps,
  { key, tenant, stand: { row }, members }: Input,
  { before, now }: { before: OwnSecret; now: Date },
): { token: string; isNew: boolean; first: DesiredKey; last: DesiredKey } => {
  const { metadata, spec, status } = key;
  const asked = metadata.annotations?.[rotateAnnotation];
  const isMade = status?.tenantId === tenant._id;
  const { inUse, known } = keyTokensOf({ spec, asked, uid: metadata.uid, isMade, row, before, now });
  const token = inUse ?? newToken(randomBytes);
  const expiresAt = spec.expiresAt === undefined ? null : new Date(spec.expiresAt);
  const hashing = { token, known, expiresAt, overlapMs: overlapMsOf(spec), now };
  const set = { ...members, hashes: hashesAfter(hashing), rotated_at: madeAtOf(token, { stored: row, now }) };
  const last = { set, begin: { created_at: now }, members: ownedBy(key) };
  if (inUse !== null) return { token, isNew: false, first: last, last };
  const meanwhile = { hashes: hashesBefore(hashing), revoked_at: row?.revoked_at ?? null };
  return { token, isNew: true, first: { ...last, set: { ...set, ...meanwhile } }, last };
};

type SecretContent = Pick<Input, "key" | "members"> & { before: OwnSecret; token: string; isReplaced: boolean };

const writeSecret = (
  { secrets, publicUrl }: Deps,
  { key, members, before, token, isReplaced }: SecretContent,
  signal: AbortSignal,
): Promise<boolean> => {
  const [appId, ...others] = members.app_ids ?? [];
  const isForOne = appId !== undefined && others.length === 0;
  const values = { token, base_url: publicUrl, ...(isForOne ? { app_id: appId } : {}) };
  const isAsWanted = (there: Record<string, string>): boolean => isDeepStrictEqual(there, values);
  return connectionSecret.write(secrets, key, { before, values, isAsWanted, isReplaced }, signal);
};

/** Ends the tokens that the one in the Secret replaced, now that it is there. */
const endFormer = async ({ record }: Deps, key: ApiKey, tenant: TenantRow, wanted: DesiredKey): Promise<void> => {
  const stand = await record.look(key, inTenant(tenant));
  const result = stand.kind === "write" && stand.row !== null ? await record.keep(key, stand, wanted) : null;
  if (result === null || "verdict" in result) throw new Error(`the key ${record.idOf(key)} changed hands`);
};

type Members = ReturnType<typeof membersOf> & Pick<ApiKeyRow, "allowed_addresses">;

/** What the resource owns: who may call from where is the REST interface's where it does not say so. */
const ownedBy = ({ spec }: ApiKey): string[] => [
  "name",
  "scopes",
  "app_ids",
  "hashes",
  "expires_at",
  ...(spec.allowedAddresses === undefined ? [] : ["allowed_addresses"]),
];

/** Addresses that the resource names no longer are not asked for. */
const addressesOf = (
  { allowedAddresses: named }: ApiKeySpec,
  row: ApiKeyRow | null,
): Pick<ApiKeyRow, "allowed_addresses"> => {
  if (named !== undefined) return { allowed_addresses: named };
  const had = row?.managed?.members?.includes("allowed_addresses") === true;
  return had ? { allowed_addresses: null } : {};
};

const membersOf = ({ metadata, spec }: ApiKey, tenant: TenantRow, appIds: string[] | null) => ({
  tenant_id: tenant._id,
  app_ids: appIds,
  name: spec.displayName ?? metadata.name,
  scopes: spec.scopes,
  revoked_at: null,
});

/** The operator does not write an observed key's Secret, so its token is no tenant's that we know of. */
const madeFor = ({ spec }: ApiKey, { tenant_id }: ApiKeyRow): { tenantId?: string } =>
  spec.managementPolicy === "Observe" ? {} : { tenantId: tenant_id };

/** The apps that a key is for; null: all of its tenant's. */
const appsOf = async (
  deps: Deps,
  key: ApiKey,
  tenantId: string,
): Promise<{ ids: string[] | null; finding: Finding | null }> => {
  if (key.spec.appRefs === undefined) return { ids: null, finding: null };
  const refs = await Promise.all(key.spec.appRefs.map((name) => appOfTenant(deps, key, name, tenantId))); // at most 50, by its schema
  const missing = refs.find((ref) => ref.kind !== "found");
  if (missing !== undefined) return { ids: [], finding: missing.finding };
  return { ids: refs.flatMap((ref) => (ref.kind === "found" ? ref.row._id : [])).sort(), finding: null };
};
