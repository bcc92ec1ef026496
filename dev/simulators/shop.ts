import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { portBase } from "../files/paths.ts";
import { pageOf, script } from "./kit/shop-page.ts";

/** What the shop's own server knows of the service. */
type Account = { url: string; token: string; appId: string };

type Reply = { status: number; type?: string; body?: string; policy?: string };

export type Shop = { url: string; stop: () => Promise<void> };

const mostBytes = 10_000;

/**
 * A shop on loopback, for the demo: a page in which a person agrees to pushes with the client for browsers, and a server that sends
 * them one. `POST /account` tells it which service and app it has.
 */
export const startShop = async (port: number): Promise<Shop> => {
  let account: Account | null = null;
  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const asked = `${request.method} ${request.url}`;
    if (asked === "POST /account") {
      account = JSON.parse(await bodyOf(request)) as Account; // the demo's own
      return { status: 204 };
    }
    if (asked === "GET /shop.js") return { status: 200, type: "text/javascript", body: script };
    if (account === null)
      return { status: 503, type: "text/plain", body: "run make demo: the shop has no service yet" };
    return answers[asked]?.(account, request) ?? { status: 404 };
  };
  const server = createServer((request, response) => {
    void answer(request)
      .catch((error: unknown): Reply => ({ status: 502, type: "text/plain", body: String(error) }))
      .then((reply) => write(response, reply));
  }).listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const at = server.address() as AddressInfo; // sound: it listens on TCP
  return {
    url: `http://127.0.0.1:${at.port}`,
    stop: async () => {
      const stopped = Promise.withResolvers<void>();
      server.close(() => stopped.resolve());
      server.closeAllConnections();
      await stopped.promise;
    },
  };
};

const write = (response: ServerResponse, { status, type, body, policy }: Reply): ServerResponse =>
  response
    .writeHead(status, {
      ...(type !== undefined && { "content-type": `${type}; charset=utf-8` }),
      ...(policy !== undefined && { "content-security-policy": policy }),
    })
    .end(body);

type Files = Record<string, { path: string; integrity: string }>;

const filesOf = async ({ url }: Account): Promise<Files> => {
  const { files } = (await (await fetch(`${url}/sdk/web/manifest.json`)).json()) as { files: Files };
  return files;
};

const answers: Record<string, (account: Account, request: IncomingMessage) => Reply | Promise<Reply>> = {
  "GET /": async (account) => {
    const files = await filesOf(account);
    const scripts = ["herald.js", "herald-inbox.js", "herald-in-app.js"].flatMap((name) => {
      const { path, integrity } = files[name] ?? {};
      return path === undefined || integrity === undefined ? [] : [{ address: account.url + path, integrity }];
    });
    const policy = `default-src 'none'; script-src 'self' ${account.url}; connect-src 'self' ${account.url}; img-src https:; worker-src 'self'; base-uri 'none'`;
    return {
      status: 200,
      type: "text/html",
      policy,
      body: pageOf({ ...account, scripts }),
    };
  },
  "GET /herald-worker.js": async (account) => {
    const worker = await fetch(`${account.url}${(await filesOf(account))["herald-worker.js"]?.path}`);
    return { status: 200, type: "text/javascript", body: await worker.text() };
  },
  "POST /send": async ({ url, token, appId }, request) => {
    const { subscriptionId } = JSON.parse(await bodyOf(request)) as { subscriptionId: string };
    const reply = await fetch(`${url}/v1/notifications`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        app_id: appId,
        target: { include_subscription_ids: [subscriptionId] },
        add_to_inbox: true,
        headings: { en: "Your parcel" },
        contents: { en: "It is on its way." },
        url: `http://${request.headers.host}/`,
      }),
    });
    return { status: reply.status, type: "application/json", body: await reply.text() };
  },
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  if (Number(request.headers["content-length"] ?? mostBytes + 1) > mostBytes) throw new Error("the body is too long");
  return text(request);
};

if (import.meta.main) {
  const [port = portBase() + 24] = process.argv.slice(2);
  const shop = await startShop(Number(port));
  console.log(`the shop is at ${shop.url}`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void shop.stop());
}
