import { createServer as createHttps } from "node:https";
import { expect } from "chai";
import { selfSigned } from "../../../../../dev/simulators/kit/certificate.ts";
import type { GuardedClient } from "../../../../../dispatcher/net/guarded/client.ts";
import { ask, outgoing } from "../../../../support/servers/outgoing.ts";

const tls = selfSigned();

describe("a guarded request", () => {
  const { client, listen, http, tcp, connections } = outgoing();
  const clientFor = (names: Record<string, string[] | (() => string[])> = {}): GuardedClient =>
    client({
      ca: tls.cert,
      resolve: async (host) => {
        const answer = names[host] ?? [];
        return typeof answer === "function" ? answer() : answer;
      },
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
    const port = await http((_, response) => response.end());
    const reply = await ask(clientFor({ "hooks.test": ["127.0.0.1", "10.0.0.1"] }), `http://hooks.test:${port}/`);
    expect(reply).to.deep.equal({
      kind: "unreached",
      reason: "the name leads to an address that is not allowed",
      errorClass: "address_refused",
    });
    expect(connections()).to.equal(0);
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

  it("is unreached when nobody listens, and when a TLS handshake does not end in time", async () => {
    expect((await ask(clientFor(), "http://127.0.0.1:1/")).kind).to.equal("unreached");
    const deaf = await tcp(() => {});
    const reply = await ask(clientFor(), `https://127.0.0.1:${deaf}/`, { connectTimeoutMs: 100 });
    expect(reply).to.deep.equal({
      kind: "unreached",
      reason: "no connection in time",
      errorClass: "connect_timeout",
    });
  });

  it("is unreached when a name is not resolved in time", async () => {
    const deaf = client({ resolve: () => new Promise(() => {}) });
    expect(await ask(deaf, "https://slow.test/", { connectTimeoutMs: 100 })).to.deep.equal({
      kind: "unreached",
      reason: "the name was not resolved in time",
      errorClass: "dns",
    });
  });

  it("uses one connection for requests that follow one another", async () => {
    const port = await http((request, response) => request.resume().on("end", () => response.end()));
    const client = clientFor();
    for (let n = 0; n < 5; n++) await ask(client, `http://127.0.0.1:${port}/`);
    expect(connections()).to.equal(1);
  });

  it("names host and port in Host as the url does", async () => {
    const hosts: (string | undefined)[] = [];
    const port = await http((request, response) => {
      hosts.push(request.headers.host);
      response.end();
    });
    await ask(clientFor({ "hooks.test": ["127.0.0.1"] }), `http://hooks.test:${port}/`);
    await ask(clientFor(), `http://127.0.0.1:${port}/`);
    expect(hosts).to.deep.equal([`hooks.test:${port}`, `127.0.0.1:${port}`]);
  });

  it("sends the query, and no header that was not asked for but Host, Connection and Content-Length", async () => {
    let seen: unknown;
    const port = await http((request, response) => {
      seen = [request.url, request.headers];
      response.end();
    });
    await ask(clientFor(), `http://127.0.0.1:${port}/a%20b?c=d&e=%2F#f`, { headers: { "x-own": "1" } });
    const headers = { host: `127.0.0.1:${port}`, connection: "keep-alive", "content-length": "5", "x-own": "1" };
    expect(seen).to.deep.equal(["/a%20b?c=d&e=%2F", headers]);
  });

  it("refuses a header that would break out of its line", async () => {
    const port = await http((_, response) => response.end());
    const reply = await ask(clientFor(), `http://127.0.0.1:${port}/`, { headers: { "x-own": "1\r\nx-other: 2" } });
    expect(reply).to.deep.equal({ kind: "refused", reason: "a header cannot be sent", errorClass: "configuration" });
  });

  it("is broken when its signal aborts after it was sent, and unreached before", async () => {
    const stop = new AbortController();
    const port = await http(() => stop.abort());
    const asked = () => ask(clientFor(), `http://127.0.0.1:${port}/`, {}, stop.signal);
    expect([(await asked()).kind, (await asked()).kind]).to.deep.equal(["broken", "unreached"]);
  });

  it("sends nothing that was given up while its connection was made", async () => {
    let requests = 0;
    const port = await http(() => requests++);
    const reply = await ask(clientFor(), `http://127.0.0.1:${port}/`, { isOver: () => true });
    expect([reply.kind, requests]).to.deep.equal(["unreached", 0]);
  });
});
