import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** What stands before the apiserver: providers and phones know its address, before there is an apiserver. */
export const startFront = async (target: () => string): Promise<{ url: string; server: Server }> => {
  const server = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      const { method = "GET", url = "/", headers } = request;
      const { host: _, connection: __, "content-length": ___, "transfer-encoding": ____, ...kept } = headers;
      const body = method === "GET" || method === "HEAD" ? null : await buffer(request);
      const given = { method, headers: kept as Record<string, string>, body, redirect: "manual" as const };
      const reply = await fetch(`${target()}${url}`, given);
      const location = reply.headers.get("location");
      response.writeHead(reply.status, location === null ? {} : { location }).end(await reply.text());
    };
    pass().catch(() => response.writeHead(502).end());
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }; // a TCP server's is no string
};
