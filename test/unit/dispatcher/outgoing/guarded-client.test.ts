import { createServer as createHttp, type RequestListener, type Server } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, createServer as createTcp, type Server as TcpServer } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { addressGuard } from "#core/runtime/address-guard.ts";
import { selfSigned } from "../../../../dev/simulators/certificate.ts";
import {
  type GuardedClient,
  type GuardedRequest,
  guardedClient,
} from "../../../../dispatcher/outgoing/guarded-client.ts";

const tls = selfSigned();
const guard = addressGuard({ allow: ["127.0.0.1"] });
const never = new AbortController().signal;

const ask = (client: GuardedClient, url: string, over: Partial<GuardedRequest> = {}, signal = never) =>
  client.request(
    {
      url: new URL(url),
      method: "POST",
      headers: {},
      body: "hello",
      timeoutMs: 1_000,
      connectTimeoutMs: 500,
      maxReplyBytes: 1_000,
      poolKey: "whk_1",
      maxConnections: 10,
      mayRepeat: true,
      ...over,
    },
    signal,
  );

describe("a guarded request", () => {
  const clients: GuardedClient[] = [];
  const servers: (Server | TcpServer)[] = [];
  const clientFor = (names: Record<string, string[] | (() => string[])> = {}, allow = guard): GuardedClient => {
    const resolve = async (host: string): Promise<string[]> => {
      const answer = names[host] ?? [];
      return typeof answer === "function" ? answer() : answer;
    };
    const client = guardedClient({ guard: allow, resolve, ca: tls.cert });
    clients.push(client);
    return client;
  };
  const listen = async (server: Server | TcpServer): Promise<number> => {
    servers.push(server);
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    return (server.address() as AddressInfo).port;
  };
  const http = (listener: RequestListener): Promise<number> => listen(createHttp(listener));
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
    for (const server of servers.splice(0)) {
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
    }
  });

  it("sends the body and gives status, headers and body of the answer", async () => {
    const port = await http((request, response) => {
      request
        .setEncoding("utf8")
        .on("data", (body: string) => response.writeHead(202, { "x-a": "b" }).end(`got ${body}`));
    });
    const reply = await ask(clientFor(), `http://127.0.0.1:${port}/in`);
    expect(reply).to.include({ kind: "answered", status: 202, broken: null });
    expect(reply.kind === "answered" && [reply.headers["x-a"], reply.body.toString()]).to.deep.equal([
      "b",
      "got hello",
    ]);
  });

  it("connects to the address that was judged, under the name that was asked for", async () => {
    let seen: unknown[] = [];
    const server = createHttps(tls, (request, response) => {
      const { servername } = request.socket as typeof request.socket & { servername?: string };
      seen = [request.headers.host, servername];
      response.end();
    });
    const port = await listen(server);
    const reply = await ask(clientFor({ localhost: ["127.0.0.1"] }), `https://localhost:${port}/`);
    expect(reply.kind).to.equal("answered");
    expect(seen).to.deep.equal([`localhost:${port}`, "localhost"]);
  });

  it("does not trust a certificate of another name", async () => {
    const port = await listen(createHttps(tls, (_, response) => response.end()));
    const reply = await ask(clientFor({ "hooks.test": ["127.0.0.1"] }), `https://hooks.test:${port}/`);
    expect(reply).to.deep.equal({
      kind: "unreached",
      reason: "the certificate is of another name",
      errorClass: "tls",
    });
  });

  it("refuses a name of which one address is private, and connects to none", async () => {
    let connections = 0;
    const port = await http((_, response) => response.end());
    servers.at(-1)?.on("connection", () => connections++);
    const client = clientFor({ "hooks.test": ["127.0.0.1", "10.0.0.1"] });
    const reply = await ask(client, `http://hooks.test:${port}/`);
    expect(reply).to.deep.equal({
      kind: "unreached",
      reason: "the name leads to an address that is not allowed",
      errorClass: "address_refused",
    });
    expect(connections).to.equal(0);
  });

  it("judges every connection, so that a name that answers differently the next time is refused then", async () => {
    const port = await http((_, response) => response.writeHead(200, { connection: "close" }).end());
    const answers = [["127.0.0.1"], ["169.254.169.254"]];
    const client = clientFor({ "hooks.test": () => answers.shift() ?? [] });
    const [first, second] = [
      await ask(client, `http://hooks.test:${port}/`),
      await ask(client, `http://hooks.test:${port}/`),
    ];
    expect(first.kind).to.equal("answered");
    expect(second).to.include({ kind: "unreached", reason: "the name leads to an address that is not allowed" });
  });

  for (const url of [
    "http://127.0.0.2/",
    "https://10.0.0.1/",
    "https://[::1]/",
    "https://2130706434/",
    "ftp://127.0.0.1/",
  ]) {
    it(`refuses ${url} without looking anything up`, async () => {
      expect((await ask(clientFor(), url)).kind).to.equal("refused");
    });
  }

  it("does not reach a name that nobody knows", async () => {
    expect(await ask(clientFor(), "https://unknown.test/")).to.deep.equal({
      kind: "unreached",
      reason: "the name cannot be resolved",
      errorClass: "dns",
    });
  });

  it("does not follow a redirect", async () => {
    let requests = 0;
    const port = await http((_, response) => {
      requests++;
      response.writeHead(307, { location: `http://127.0.0.1:${port}/other` }).end();
    });
    expect(await ask(clientFor(), `http://127.0.0.1:${port}/`)).to.include({ kind: "answered", status: 307 });
    expect(requests).to.equal(1);
  });

  it("uses no proxy of the environment", async () => {
    process.env["HTTP_PROXY"] = "http://127.0.0.1:1";
    const port = await http((_, response) => response.end("direct"));
    const reply = await ask(clientFor(), `http://127.0.0.1:${port}/`);
    delete process.env["HTTP_PROXY"];
    expect(reply.kind).to.equal("answered");
  });

  it("keeps so many bytes of a larger answer, and closes its connection", async () => {
    const closed = Promise.withResolvers<void>();
    const port = await http((_, response) => {
      response.on("close", closed.resolve);
      const write = (): void => {
        if (response.destroyed) return;
        response.write("x".repeat(10_000), () => setImmediate(write));
      };
      write();
    });
    const reply = await ask(clientFor(), `http://127.0.0.1:${port}/`);
    expect(reply.kind === "answered" && [reply.body.length, reply.broken]).to.deep.equal([1_000, null]);
    await closed.promise;
  });

  it("does not inflate what was not asked to be compressed", async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    const port = await http((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    const reply = await ask(clientFor(), `http://127.0.0.1:${port}/`);
    expect(reply.kind === "answered" && reply.body.length).to.be.at.most(1_000);
  });

  it("says that an answer was broken off when it drips beyond the deadline", async () => {
    const port = await http((_, response) => {
      const timer = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(timer));
    });
    const reply = await ask(clientFor(), `http://127.0.0.1:${port}/`, { timeoutMs: 200 });
    expect(reply).to.deep.include({
      kind: "answered",
      status: 200,
      broken: { reason: "no whole answer in time", errorClass: "timeout" },
    });
  });

  it("says that an answer was broken off when its connection is cut", async () => {
    const port = await http((request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setTimeout(() => request.socket.destroy(), 20);
    });
    const reply = await ask(clientFor(), `http://127.0.0.1:${port}/`);
    expect(reply).to.deep.include({ broken: { reason: "the answer broke off", errorClass: "bad_reply" } });
  });

  it("is broken, not unreached, when a request gets no answer", async () => {
    const port = await http(() => {});
    expect(await ask(clientFor(), `http://127.0.0.1:${port}/`, { timeoutMs: 200 })).to.deep.equal({
      kind: "broken",
      reason: "no whole answer in time",
      errorClass: "timeout",
    });
    const cut = await http((request) => request.socket.destroy());
    expect((await ask(clientFor(), `http://127.0.0.1:${cut}/`)).kind).to.equal("broken");
  });

  it("is unreached when nobody listens, and when a TLS handshake does not end in time", async () => {
    expect((await ask(clientFor(), "http://127.0.0.1:1/")).kind).to.equal("unreached");
    const deaf = await listen(createTcp(() => {}));
    const reply = await ask(clientFor(), `https://127.0.0.1:${deaf}/`, { connectTimeoutMs: 100 });
    expect(reply).to.deep.equal({
      kind: "unreached",
      reason: "no connection in time",
      errorClass: "connect_timeout",
    });
  });

  it("is unreached when a name is not resolved in time", async () => {
    const client = guardedClient({ guard, resolve: () => new Promise(() => {}) });
    clients.push(client);
    expect(await ask(client, "https://slow.test/", { connectTimeoutMs: 100 })).to.deep.equal({
      kind: "unreached",
      reason: "the name was not resolved in time",
      errorClass: "dns",
    });
  });

  it("uses one connection for requests that follow one another", async () => {
    let connections = 0;
    const port = await http((request, response) => request.resume().on("end", () => response.end()));
    servers.at(-1)?.on("connection", () => connections++);
    const client = clientFor();
    for (let n = 0; n < 5; n++) await ask(client, `http://127.0.0.1:${port}/`);
    expect(connections).to.equal(1);
  });

  it("rejects when its signal aborts", async () => {
    const port = await http(() => {});
    const stop = new AbortController();
    const asked = ask(clientFor(), `http://127.0.0.1:${port}/`, {}, stop.signal).catch((error: Error) => error.message);
    stop.abort(new Error("stopping"));
    expect(await asked).to.equal("stopping");
  });
});
