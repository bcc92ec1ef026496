import { appResource } from "#core/channels/app-resource.ts";
import { hasStatus } from "#core/runtime/kube/errors.ts";
import type { Resource, Secret } from "#core/runtime/kube/objects.ts";
import { collectionPath } from "#core/runtime/kube/paths.ts";
import { type ApiKeySpec, apiKeyResource } from "#core/schema/api-keys/resource.ts";
import type { Scope } from "#core/schema/vocabulary/scopes.ts";
import { text } from "../kit/arguments.ts";
import type { Cluster, SeenStatus } from "../kit/cluster.ts";
import type { Given } from "../kit/command.ts";
import { Refused, UsageError } from "../kit/errors.ts";

/** A key of the REST interface, and the app that is meant. The token is shown nowhere. */
export type Access = { token: string; appId: string };

type Key = Resource<ApiKeySpec, SeenStatus>;

/**
 * Reads a token that the caller may read: of the ApiKey that `--key` names, else of the one in the namespace that has the
 * scope and the fewest others. @throws UsageError, Refused
 */
export const accessOf = async (cluster: Cluster, given: Given, scope: Scope, signal: AbortSignal): Promise<Access> => {
  const namespace = text(given, "namespace") ?? cluster.namespace;
  const app = text(given, "app");
  const key = await keyOf({ cluster, namespace, signal }, { name: text(given, "key"), app, scope });
  const { token, app_id: bound } = await secretOf({ cluster, namespace, signal }, key);
  const named = app === undefined ? undefined : await appIdOf({ cluster, namespace, signal }, app);
  const appId = named ?? bound;
  if (appId === undefined) throw new UsageError(`ApiKey ${key.metadata.name} is for several apps: --app says which`);
  if (bound !== undefined && bound !== appId)
    throw new UsageError(`ApiKey ${key.metadata.name} is for another app than ${app ?? ""}`);
  return { token, appId };
};

type At = { cluster: Cluster; namespace: string; signal: AbortSignal };

type Wanted = { name: string | undefined; app: string | undefined; scope: Scope };

const keyOf = async ({ cluster, namespace, signal }: At, { name, app, scope }: Wanted): Promise<Key> => {
  const path = collectionPath(apiKeyResource, { namespace });
  if (name !== undefined)
    return get<Key>(cluster, `${path}/${encodeURIComponent(name)}`, `ApiKey ${namespace}/${name}`, signal);
  const { items, forbidden } = await cluster.list<Key>(path, signal);
  if (forbidden) throw new Refused(`you may not list ApiKeys in ${namespace}: --key names one`);
  const usable = items.filter(({ spec }) => hasScope(spec, scope) && isFor(spec, app));
  const [least] = usable.sort((a, b) => weight(a) - weight(b) || a.metadata.name.localeCompare(b.metadata.name));
  if (least !== undefined) return least;
  const wanted = app === undefined ? "" : ` for the App ${app}`;
  throw new Refused(`${namespace} has no ApiKey${wanted} with the scope ${scope}; -n names another namespace`);
};

const hasScope = ({ scopes }: ApiKeySpec, scope: Scope): boolean => scopes.includes(scope) || scopes.includes("admin");

const isFor = ({ appRefs }: ApiKeySpec, app: string | undefined): boolean =>
  app === undefined || appRefs === undefined || appRefs.includes(app);

/** `admin` includes all the others. */
const weight = ({ spec: { scopes } }: Key): number => (scopes.includes("admin") ? 100 : scopes.length);

const secretOf = async (
  { cluster, namespace, signal }: At,
  { metadata, spec }: Key,
): Promise<{ token: string; app_id?: string }> => {
  const name = spec.connectionSecretName;
  const what = `the Secret ${namespace}/${name} of ApiKey ${metadata.name}`;
  const { data = {} } = await get<Secret>(cluster, `/api/v1/namespaces/${namespace}/secrets/${name}`, what, signal);
  const text = (member: string): string => Buffer.from(data[member] ?? "", "base64").toString("utf8");
  if (text("token") === "") throw new Refused(`${what} has no token: see kubectl herald status`);
  return { token: text("token"), ...(data["app_id"] !== undefined && { app_id: text("app_id") }) };
};

const appIdOf = async ({ cluster, namespace, signal }: At, name: string): Promise<string> => {
  const what = `App ${namespace}/${name}`;
  const path = `${collectionPath(appResource, { namespace })}/${encodeURIComponent(name)}`;
  const { status } = await get<Resource<unknown, SeenStatus>>(cluster, path, what, signal);
  if (status?.id === undefined) throw new Refused(`${what} has no id yet: see kubectl herald status`);
  return status.id;
};

/** One object. @throws Refused when there is none, or the caller may not read it */
export const get = async <T>(cluster: Cluster, path: string, what: string, signal: AbortSignal): Promise<T> => {
  try {
    return await cluster.client.call<T>({ method: "GET", path }, signal);
  } catch (error) {
    if (hasStatus(error, 403)) throw new Refused(`you may not read ${what}`, { cause: error });
    if (hasStatus(error, 404)) throw new Refused(`there is no ${what.replace(/^the /, "")}`, { cause: error });
    throw error;
  }
};
