import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import { readBounded } from "#core/runtime/http/read-bounded.ts";
import type { Connection } from "./connection.ts";
import { KubeError } from "./errors.ts";

export type KubeRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with its query, e.g. `/api/v1/namespaces/a/secrets?limit=500`. */
  path: string;
  body?: unknown;
  /** Type of the body; not given: a merge patch for PATCH, else JSON. */
  contentType?: string;
  accept?: string;
  /** More headers, e.g. for what is behind the API server's proxy. */
  headers?: Readonly<Record<string, string>>;
  /** `any`: an answer of any status is handed on, as what is behind the API server's proxy gives it. */
  takes?: "success" | "any";
  /** Such requests have connections of their own, so that they never wait for a connection that others use. */
  isUrgent?: boolean;
};

export type KubeClient = ReturnType<typeof kubeClient>;

export type KubeClientDeps = {
  connection: Pick<Connection, "server" | "authorize">;
  /** What the API server's audit log calls the program. */
  userAgent?: string;
  /** Called for every answer: method and status (0: none). */
  onAnswer?: (method: string, status: number) => void;
};

const headDeadlineMs = 10_000;
const maxAnswerBytes = 64 * 1024 * 1024; // a page of 500 objects of the largest size that etcd takes is far below

/**
 * Talks to the Kubernetes API. Every failure is a {@link KubeError}, except the abort of `signal`. Connections are kept
 * and shared; client-node would open a new one for every call.
 */
export const kubeClient = ({ connection, userAgent = "herald-operator", onAnswer = () => {} }: KubeClientDeps) => {
  const agents = { shared: agentOf(connection, 64), urgent: agentOf(connection, 4) };
  const send = {
    shared: sender(connection, agents.shared, userAgent),
    urgent: sender(connection, agents.urgent, userAgent),
  };
  const streams = new Set<IncomingMessage>();

  const begin = async (request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    const what = `${request.method} ${request.path.split("?", 1)[0]}`;
    const head = new AbortController();
    const timer = setTimeout(() => {
      head.abort(new Error("no answer in time"));
      dropIdle(agents); // the network may be cut: idle connections are no better than this one
    }, headDeadlineMs);
    const answer = await send[request.isUrgent ? "urgent" : "shared"](request, AbortSignal.any([signal, head.signal]))
      .catch((cause: unknown) => {
        signal.throwIfAborted();
        onAnswer(request.method, 0);
        throw new KubeError(what, { status: 0, reason: "no answer" }, { cause });
      })
      .finally(() => clearTimeout(timer));
    const { statusCode = 0 } = answer;
    onAnswer(request.method, statusCode);
    if (statusCode < 300 || request.takes === "any") return answer;
    throw new KubeError(what, { status: statusCode, ...(await refusal(answer)) });
  };

  /** One call, answered within 10 s. */
  const call = async <T>(request: KubeRequest, signal: AbortSignal): Promise<T> => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(headDeadlineMs)]);
    const answer = await begin(request, deadline);
    const text = await readAll(answer).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new KubeError(`${request.method} ${request.path}`, { status: 0, reason: "answer cut short" }, { cause });
    });
    return JSON.parse(text) as T; // sound: the Kubernetes API answers with the type that its path names
  };

  /** A call whose answer is read as it comes, e.g. a watch; resolves when its head has come, within 10 s. */
  const open = async (request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    const answer = await begin(request, signal);
    streams.add(answer);
    answer.once("close", () => streams.delete(answer));
    return answer;
  };

  /**
   * Says that the network may have cut connections without a word. Idle connections are closed, so that the next call
   * makes a new one; with `watches too`, answers that are still being read are cut off.
   */
  const doubt = (what: "idle" | "watches too"): void => {
    dropIdle(agents);
    if (what === "watches too") for (const answer of streams) answer.destroy(new Error("the link is in doubt"));
  };

  return { call, open, doubt, close: () => Object.values(agents).forEach((agent) => agent.destroy()) };
};

const sender =
  (connection: Pick<Connection, "server" | "authorize">, agent: HttpAgent, userAgent: string) =>
  async (request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const options = await optionsOf(connection, { ...request, userAgent }, body);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const begin = agent instanceof HttpsAgent ? httpsRequest : httpRequest;
    const sent = begin({ ...options, agent, signal }, resolve);
    sent.on("error", reject);
    sent.end(body);
    return await promise;
  };

const agentOf = ({ server }: Pick<Connection, "server">, maxSockets: number): HttpAgent =>
  new (server.protocol === "https:" ? HttpsAgent : HttpAgent)({
    keepAlive: true,
    keepAliveMsecs: 15_000, // TCP's own probes begin then: a peer that vanished is noticed some 10 s later
    maxSockets,
    scheduling: "lifo",
  });

const dropIdle = (agents: Record<string, HttpAgent>): void => {
  for (const { freeSockets } of Object.values(agents)) {
    for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
  }
};

const optionsOf = async (
  { server, authorize }: Pick<Connection, "server" | "authorize">,
  request: KubeRequest & { userAgent: string },
  body: Buffer | undefined,
): Promise<RequestOptions> => {
  const options = {
    method: request.method,
    hostname: server.hostname.replace(/^\[|\]$/g, ""),
    port: server.port || (server.protocol === "https:" ? 443 : 80),
    path: `${server.pathname.replace(/\/$/, "")}${request.path}`,
    headers: {
      ...request.headers,
      accept: request.accept ?? "application/json",
      "user-agent": request.userAgent,
      // Node frames the body of no DELETE by itself: the API server would take it for the next request.
      ...(body && { "content-type": contentTypeOf(request), "content-length": String(body.length) }),
    },
  };
  await authorize(options);
  return options;
};

const contentTypeOf = ({ method, contentType }: KubeRequest): string =>
  contentType ?? (method === "PATCH" ? "application/merge-patch+json" : "application/json");

const readAll = async (answer: IncomingMessage): Promise<string> =>
  (await readBounded(answer as AsyncIterable<Buffer>, maxAnswerBytes)).toString("utf8"); // sound: it has no encoding

const refusal = async (answer: IncomingMessage): Promise<{ reason: string; retryAfterMs: number | null }> => {
  const seconds = Number(answer.headers["retry-after"] ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? Math.min(seconds, 60) * 1000 : null;
  const text = await readAll(answer).catch(() => "");
  return { reason: reasonIn(text), retryAfterMs };
};

const reasonIn = (text: string): string => {
  try {
    const { message, reason } = JSON.parse(text) as { message?: string; reason?: string };
    return (message ?? reason ?? "refused").slice(0, 500);
  } catch {
    return text.slice(0, 200) || "refused";
  }
};
