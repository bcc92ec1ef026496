import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** `key`: its path behind the bucket, or the account of Azure. */
export type Asked = { method: string; key: string; query: URLSearchParams; body: Buffer };
export type Answer = { status: number; headers?: IncomingHttpHeaders; body?: Buffer | string };

/** What becomes of a request; null: its connection is cut. */
export type Rule = (asked: Asked, pass: () => Promise<Answer>) => Promise<Answer | null>;

/** A server in front of a store, which can be told to fail. */
export const storeProxy = async (storeUrl: string) => {
  const { hostname, port } = new URL(storeUrl);
  let rule: Rule = (_, pass) => pass();
  const server = createServer((asked, answer) => {
    const { method = "GET", url = "/", headers } = asked;
    const handle = async (): Promise<void> => {
      const body = await buffer(asked);
      const { pathname, searchParams: query } = new URL(url, storeUrl);
      const key = decodeURIComponent(pathname.split("/").slice(2).join("/"));
      const to = { hostname, port, method, path: url, headers }; // the name of this server is signed with the rest
      give(answer, await rule({ method, key, query, body }, () => forward(to, body)));
    };
    handle().catch(() => answer.destroy());
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (next: Rule) => void (rule = next),
    reset: () => void (rule = (_, pass) => pass()),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const give = (answer: ServerResponse, given: Answer | null): void => {
  if (given === null) return void answer.destroy();
  answer.writeHead(given.status, given.headers);
  answer.end(given.body);
};

const forward = async (to: object, body: Buffer): Promise<Answer> => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(to, resolve).on("error", reject).end(body);
  const reply = await promise;
  return { status: reply.statusCode ?? 502, headers: reply.headers, body: await buffer(reply) };
};

/** As S3 says that it does not do something. */
export const refusal = (status: number, code: string): Answer => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>no</Message></Error>`,
});
