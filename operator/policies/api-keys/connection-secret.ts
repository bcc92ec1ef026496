import { type ApiKeySpec, apiKeyResource } from "#core/schema/api-keys/resource.ts";
import { resourceApiVersion } from "#core/schema/kubernetes/definition.ts";
import type { Resource } from "../../kube/objects.ts";
import { type Owner, type OwnSecret, rotateAnnotation, type Secrets } from "../../kube/secrets.ts";
import { type Finding, refused } from "../conditions.ts";

export type KeySecretDeps = {
  secrets: Secrets;
  /** Address of the REST interface, as the key's users reach it. */
  baseUrl: string;
};

type ApiKey = Resource<ApiKeySpec>;
type Content = {
  key: ApiKey;
  appIds: string[] | null;
  before: OwnSecret;
  token: string;
  /** Whether the token takes the place of another. */
  isReplaced: boolean;
};

/** Writes a key's connection Secret; false when it is as it is to be. */
export const writeSecret = async (
  { secrets, baseUrl }: KeySecretDeps,
  { key, appIds, before, token, isReplaced }: Content,
  signal: AbortSignal,
): Promise<boolean> => {
  const [appId, ...others] = appIds ?? [];
  const isForOne = appId !== undefined && others.length === 0;
  const values = { token, base_url: baseUrl, ...(isForOne ? { app_id: appId } : {}) };
  const rotatedFor = key.metadata.annotations?.[rotateAnnotation] ?? null;
  const isThere = before.kind === "own" && before.isOwned && before.rotatedFor === rotatedFor;
  if (isThere && isSame(before.values, values)) return false;
  const content = { before, values, rotatedFor, replaced: isReplaced ? "token" : null };
  await secrets.writeOwn(ownerOf(key), key.spec.connectionSecretName, content, signal);
  return true;
};

const isSame = (a: Record<string, string>, b: Record<string, string>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(b).every(([key, value]) => a[key] === value);

/** Says that the Secret is not the key's to write. */
export const secretConflict = ({ spec }: ApiKey): Finding =>
  refused("SecretConflict", `Secret ${spec.connectionSecretName} exists and is not this key's; it is left alone`);

export const ownerOf = (resource: ApiKey): Owner => ({
  apiVersion: resourceApiVersion,
  kind: apiKeyResource.kind,
  resource,
});
