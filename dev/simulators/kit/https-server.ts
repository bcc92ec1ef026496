import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Certificate } from "./certificate.ts";
import type { SimulatedAnswer, SimulatedServer } from "./http2-server.ts";
import { calm, type Script } from "./script.ts";

export type HttpsRequest = { method: string; path: string; headers: Record<string, string>; body: Buffer };

export type HttpsServerOptions = { port: number; tls: Certificate; answer: (request: HttpsRequest) => SimulatedAnswer };

/** An HTTP/1.1 server over TLS on loopback that misbehaves as its script says. */
export const startHttpsServer = async ({ port, tls, answer }: HttpsServerOptions): Promise<SimulatedServer> => {
  let script = calm;
  const sockets = new Set<Socket>();
  const server = createServer(tls, (request, response) => {
    void serve(request, response, { script, answer }).catch(() => response.destroy()); // a cut link is what scripts are for
  });
  server.on("connection", (socket: Socket) => {
    if (script.refuse_connections) return socket.destroy();
    sockets.add(socket);
    return socket.once("close", () => sockets.delete(socket));
  });
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `https://127.0.0.1:${await listen(server, port)}`,
    apply: (next) => {
      script = next;
      if (next.refuse_connections) cutAll();
    },
    stop: async () => {
      const stopped = Promise.withResolvers<void>();
      server.close(() => stopped.resolve());
      cutAll();
      await stopped.promise;
    },
  };
};

const listen = async (server: Server, port: number): Promise<number> => {
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject).listen(port, "127.0.0.1", listening.resolve);
  await listening.promise;
  return (server.address() as AddressInfo).port; // a TCP server's address is never a string
};

type Manner = { script: Script; answer: HttpsServerOptions["answer"] };

/** Requests that each connection has carried. */
const carried = new WeakMap<object, number>();

const serve = async (request: IncomingMessage, response: ServerResponse, { script, answer }: Manner): Promise<void> => {
  const nth = (carried.get(request.socket) ?? 0) + 1;
  carried.set(request.socket, nth);
  if (script.deaf_after > 0 && nth > script.deaf_after) return;
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const body = await buffer(request);
  const reply = answer({ method: request.method ?? "", path: request.url ?? "", headers, body });
  if (script.reset_every > 0 && nth % script.reset_every === 0) {
    request.socket.destroy();
    return;
  }
  const send = (): void => void response.writeHead(reply.status, reply.headers).end(reply.body);
  if (script.delay_ms > 0) setTimeout(send, script.delay_ms).unref();
  else send();
};
