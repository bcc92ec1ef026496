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

/** Which requests go to the service, and as whom. */
export type Asking = Pick<Install, "appId" | "url"> & { secret?: string | null; identityToken?: IdentityToken };

/** `token`: of the person's identity. */
type Sent = Asked & { token: string | null; signal?: AbortSignal };

export type Asked = { method?: string; body?: unknown; keepalive?: boolean; headers?: Record<string, string> };

const timeoutMs = 15_000;

/**
 * Asks the service, and once more with a new identity token when it did not take the one it had.
 * @throws HeraldError when it refuses, TypeError when it cannot be reached
 */
export const ask = async <T>(asking: Asking, path: string, asked: Asked = {}): Promise<T> => {
  const token = (await asking.identityToken?.(false)) ?? null;
  const first = await send(asking, path, { ...asked, token });
  const isRefused = first.status === 401 && token !== null && (await codeOf(first.clone())) === invalid;
  const again = isRefused ? ((await asking.identityToken?.(true)) ?? null) : null;
  const reply = again === null ? first : await send(asking, path, { ...asked, token: again });
  const body: unknown = reply.status === 304 ? null : await reply.json().catch(() => ({}));
  if (reply.ok || reply.status === 304) return body as T; // sound: the service's document says so
  throw new HeraldError(reply.status, (body as { error?: Problem }).error ?? {}, reply.headers.get("Retry-After"));
};

const invalid = "HS_IDENTITY_TOKEN_INVALID";

const codeOf = async (reply: Response): Promise<string | undefined> =>
  ((await reply.json().catch(() => ({}))) as { error?: Problem }).error?.code;

/** The same as it came, for streams. */
export const send = (
  { url, appId, secret = null }: Asking,
  path: string,
  { method = "GET", body, keepalive = false, headers, token, signal = AbortSignal.timeout(timeoutMs) }: Sent,
): Promise<Response> =>
  fetch(`${url}/sdk/v1/${path}`, {
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
