import { readBounded } from "#core/runtime/http/read-bounded.ts";
import { KubeError } from "#core/runtime/kube/errors.ts";
import type { Scope } from "#core/schema/vocabulary/scopes.ts";
import { isSet } from "../kit/arguments.ts";
import type { Cluster } from "../kit/cluster.ts";
import type { Given, Tools } from "../kit/command.ts";
import { Refused, UsageError } from "../kit/errors.ts";
import { type Access, accessOf } from "./key.ts";
import { restPath } from "./service.ts";

/** The REST interface, as an ApiKey may use it. */
export type Rest = Awaited<ReturnType<typeof openRest>>;

type Call = { method: "GET" | "POST"; path: string; body?: object; headers?: Record<string, string> };

const mostAnswerBytes = 16 * 1024 * 1024;

/**
 * Opens the REST interface by the API server's proxy, which asks for the caller's own rights, with a key that they may
 * read. @throws UsageError, Refused
 */
export const openRest = async (
  given: Given,
  { cluster: open, signal }: Pick<Tools, "cluster" | "signal">,
  scope: Scope,
) => {
  if (isSet(given, "all-namespaces")) throw new UsageError("an ApiKey is of one namespace: -n names it");
  const cluster = open();
  const [access, path] = await Promise.all([accessOf(cluster, given, scope, signal), restPath(cluster, given, signal)]);
  return {
    appId: access.appId,
    /** The path of the app. */
    ofApp: `/v1/apps/${access.appId}`,
    get: <T>(at: string): Promise<T> => call<T>(cluster, access, { method: "GET", path: path + at }, signal),
    post: <T>(at: string, body: object, headers: Record<string, string> = {}): Promise<T> =>
      call<T>(cluster, access, { method: "POST", path: path + at, body, headers }, signal),
  };
};

const call = async <T>(cluster: Cluster, { token }: Access, request: Call, signal: AbortSignal): Promise<T> => {
  const headers = { ...request.headers, "X-API-Key": token }; // the API server takes Authorization for itself
  const answer = await cluster.client.open({ ...request, headers, takes: "any" }, signal);
  const text = (await readBounded(answer as AsyncIterable<Buffer>, mostAnswerBytes)).toString("utf8"); // it has no encoding
  const status = answer.statusCode ?? 0;
  if (status < 300) return JSON.parse(text) as T; // sound: the operation's reply, as its schema has it
  throw refusalOf(status, text, request);
};

type Refusal = {
  /** Of the REST interface. */
  error?: { code?: string; message?: string; request_id?: string; details?: { errors?: Fault[] } };
  /** Of the API server, about the proxy. */
  kind?: string;
  message?: string;
};
type Fault = { field: string; message: string };

/** Who refused, and why: the REST interface, or the API server in front of it. */
const refusalOf = (status: number, text: string, { method, path }: Call): Error => {
  const { error, kind, message } = read(text);
  if (error?.code !== undefined) {
    const faults = (error.details?.errors ?? []).map((fault) => `\n  ${fault.field}: ${fault.message}`);
    const more = faults.length > 1 ? faults.join("") : "";
    return new Refused(`${error.code}: ${error.message ?? ""} (request ${error.request_id ?? "unknown"})${more}`);
  }
  if (kind === "Status" && status === 403)
    return new Refused(`you may not use the proxy of the apiserver's Service: ${message ?? ""}`);
  return new KubeError(`${method} ${path.split("?", 1)[0]}`, { status, reason: (message ?? text).slice(0, 500) });
};

const read = (text: string): Refusal => {
  try {
    return (JSON.parse(text) ?? {}) as Refusal; // sound: every member is asked for before it is used
  } catch {
    return {};
  }
};
