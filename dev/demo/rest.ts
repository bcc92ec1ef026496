/** Calls of the REST interface with one key. Anything but 2xx throws, naming the call and what was answered. */
export type Rest = {
  get: <T>(path: string) => Promise<T>;
  post: <T>(path: string, body: object, headers?: Record<string, string>) => Promise<T>;
  /** Posts a form with a file. */
  upload: <T>(path: string, form: FormData) => Promise<T>;
};

const timeoutMs = 10_000;

export const restClient = ({ baseUrl, token }: { baseUrl: string; token: string }): Rest => {
  type Sent = { body?: string | FormData; headers?: object };
  const call = async <T>(method: string, path: string, rest: Sent = {}): Promise<T> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      ...(rest.body !== undefined && { body: rest.body }),
      headers: { authorization: `Bearer ${token}`, ...rest.headers },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = await response.text();
    if (!response.ok) throw new RestError(`${method} ${path} answered ${response.status}: ${answer}`, response.status);
    return JSON.parse(answer) as T; // as docs/openapi.json describes it
  };
  return {
    get: (path) => call("GET", path),
    post: (path, body, headers = {}) =>
      call("POST", path, { body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } }),
    upload: (path, form) => call("POST", path, { body: form }),
  };
};

export class RestError extends Error {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.name = "RestError";
    this.status = status;
  }
}
