import type { Install } from "./store.ts";

/** What the service refused, by its code; `retryAfterMs` where it says when to come again. */
export class HeraldError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;
  readonly retryAfterMs: number | null;
  constructor(status: number, { code = "", message = "", details = {} }: Partial<Problem>, retryAfter: string | null) {
    super(message || `answered ${status}`);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfterMs = retryAfter === null ? null : Number(retryAfter) * 1_000;
  }
}

type Problem = { code: string; message: string; details: Record<string, unknown> };

/** Gives a token that says who the person is, or null; called again when the service did not take the last one. */
export type IdentityToken = (refused: boolean) => Promise<string | null> | string | null;

/** The status of a reply without a body: what the request's `If-None-Match` names is what there is still. */
export const notModified = 304;

/** Which requests go to the service, and as whom. */
export type Asking = Pick<Install, "appId" | "url"> & { secret?: string | null; identityToken?: IdentityToken };

export type Asked = {
  method?: string;
  body?: unknown;
  keepalive?: boolean;
  headers?: Record<string, string>;
  /** Whether the person's identity is told, as it is of who is logged in. */
  isIdentified?: boolean;
  /** What ends it: 15 seconds when nothing is said. */
  signal?: AbortSignal;
};

const timeoutMs = 15_000;
const longestWaitMs = 10_000;

/**
 * Asks the service and gives what it answered.
 * @throws HeraldError when it refuses, TypeError when it cannot be reached
 */
export const ask = async <T>(asking: Asking, path: string, asked: Asked = {}): Promise<T> => {
  const reply = await reach(asking, path, asked);
  return (await reply.json()) as T; // sound: the service's document says so
};

/**
 * The same as it came, for streams. It asks once more with a new identity token when the service did not take the one it had, and
 * when it is told to wait for a moment.
 */
export const reach = async (asking: Asking, path: string, asked: Asked = {}): Promise<Response> => {
  const token = (await asking.identityToken?.(false)) ?? null;
  try {
    return await send(asking, path, asked, token);
  } catch (error) {
    if (!(error instanceof HeraldError)) throw error;
    const isTokenRefused = token !== null && error.code === "HS_IDENTITY_TOKEN_INVALID";
    const waitMs = error.status === 429 ? (error.retryAfterMs ?? longestWaitMs) : 0;
    if ((!isTokenRefused && waitMs === 0) || waitMs > longestWaitMs) throw error;
    const again = isTokenRefused ? ((await asking.identityToken?.(true)) ?? null) : token;
    if (isTokenRefused && again === null) throw error;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return send(asking, path, asked, again);
  }
};

const send = async (
  { url, appId, secret = null }: Asking,
  path: string,
  { method = "GET", body, keepalive = false, headers, signal = AbortSignal.timeout(timeoutMs) }: Asked,
  token: string | null,
): Promise<Response> => {
  const reply = await fetch(`${url}/sdk/v1/${path}`, {
    method,
    keepalive,
    credentials: "omit",
    signal,
    headers: {
      "X-HS-App-Id": appId,
      ...(secret !== null && { "X-HS-Subscription-Token": secret }),
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (reply.ok || reply.status === notModified) return reply;
  const { error = {} } = (await reply.json().catch(() => ({}))) as { error?: Partial<Problem> };
  throw new HeraldError(reply.status, error, reply.headers.get("Retry-After"));
};
