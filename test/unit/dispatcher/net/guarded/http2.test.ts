import { constants, createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import { createServer as createHttps } from "node:https";
import { expect } from "chai";
import { selfSigned } from "../../../../../dev/simulators/kit/certificate.ts";
import type { GuardedClient, GuardedReply } from "../../../../../dispatcher/net/guarded/client.ts";
import { ask, outgoing } from "../../../../support/servers/outgoing.ts";
import { until } from "../../../../support/until.ts";

const tls = selfSigned();
const forbidden = "the name leads to an address that is not allowed";

describe("a guarded request that may go over HTTP/2", () => {
  const { client, listen, tcp, connections } = outgoing();
  let sessions: Set<ServerHttp2Session>;
  let looksUp: number;
  let mayConnect: boolean;

  beforeEach(() => {
    sessions = new Set();
    looksUp = 0;
    mayConnect = true;
  });

  /** A client whose every name leads to this machine, as long as that is allowed. */
  const asker = (): GuardedClient =>
    client({
      guard: {
        problemOf: () => null,
        outsideProblemOf: () => null,
        mayConnect: () => mayConnect,
        mayReach: () => mayConnect,
      },
      resolve: async () => {
        looksUp++;
        return ["127.0.0.1"];
      },
      ca: tls.cert,
    });
  const over = (one: GuardedClient, port: number, wanted: object = {}): Promise<GuardedReply> =>
    ask(one, `https://localhost:${port}/a?b=1`, { mayUseHttp2: true, mayRepeat: false, ...wanted });

  /** Answers with the protocol, method, path and body that it was asked with; over HTTP/1.1 only those who want that. */
  const both = (): Http2SecureServer => {
    const server = createSecureServer({ ...tls, allowHTTP1: true }, (request, response) => {
      const { httpVersion, method, url } = request;
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => response.end(`${httpVersion} ${method} ${url} ${Buffer.concat(parts).toString()}`));
    });
    return server.on("session", (session) => {
      sessions.add(session);
      session.once("close", () => sessions.delete(session));
    });
  };
  const textOf = (reply: GuardedReply): string => (reply.kind === "answered" ? reply.body.toString() : reply.reason);

  it("goes over one connection with all others to its origin, after one that asked for the protocol", async () => {
    const port = await listen(both());
    const one = asker();
    const replies = await Promise.all(Array.from({ length: 50 }, () => over(one, port)));
    expect(new Set(replies.map(textOf))).to.deep.equal(new Set(["2.0 POST /a?b=1 hello"]));
    expect(connections()).to.equal(2);
    expect(looksUp).to.equal(2);
  });

  it("goes over HTTP/1.1 where the origin speaks nothing else", async () => {
    const port = await listen(createHttps(tls, (request, response) => response.end(request.httpVersion)));
    const one = asker();
    for (let n = 0; n < 3; n++) expect(textOf(await over(one, port))).to.equal("1.1");
    expect(connections()).to.equal(2); // the one that asked, and the one that is kept
  });

  it("is the only kind that does: others go over HTTP/1.1", async () => {
    const port = await listen(both());
    expect(textOf(await over(asker(), port, { mayUseHttp2: false }))).to.match(/^1\.1 /);
    expect(sessions.size).to.equal(0);
  });

  it("shares no connection with another owner's", async () => {
    const port = await listen(both());
    const one = asker();
    await over(one, port);
    await over(one, port, { poolKey: "other" });
    expect(connections()).to.equal(3); // the protocol is known by then
  });

  it("is not made when its name leads to a forbidden address", async () => {
    const port = await listen(both());
    mayConnect = false;
    expect(await over(asker(), port)).to.include({
      kind: "unreached",
      reason: forbidden,
      errorClass: "address_refused",
    });
    expect(connections()).to.equal(0);
  });

  it("is not made when its name leads to a forbidden address by the time of the next connection", async () => {
    const port = await listen(both());
    const one = asker();
    await over(one, port);
    mayConnect = false;
    for (const session of sessions) session.destroy();
    await until(() => sessions.size === 0);
    const before = looksUp;
    expect((await over(one, port)).kind).to.equal("unreached");
    expect(looksUp).to.be.greaterThan(before);
    expect(connections()).to.equal(2);
  });

  it("is not made to a server whose certificate is not trusted", async () => {
    const port = await listen(createSecureServer(selfSigned()));
    expect(await over(asker(), port)).to.include({ kind: "unreached", errorClass: "tls" });
  });

  it("asks for the protocol anew once the origin could not be reached", async () => {
    const server = both();
    const port = await listen(server);
    const one = asker();
    await over(one, port);
    mayConnect = false;
    for (const session of sessions) session.destroy();
    await over(one, port);
    mayConnect = true;
    const before = looksUp;
    await until(async () => (await over(one, port)).kind === "answered");
    expect(looksUp - before).to.be.at.least(2);
  });

  it("is broken when the connection ends before an answer, and goes to another one when it was not processed", async () => {
    let asked = 0;
    const server = createSecureServer(tls).on("stream", (stream) => {
      asked++;
      stream.on("error", () => {}); // of the reset
      if (asked === 1) stream.session?.destroy();
      else if (asked === 2) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else {
        stream.respond({ ":status": 201, location: "/m/1" });
        stream.end();
      }
    });
    const one = asker();
    const port = await listen(server);
    expect((await over(one, port)).kind).to.equal("broken");
    const reply = await over(one, port);
    expect(reply).to.deep.include({ kind: "answered", status: 201, broken: null });
    if (reply.kind === "answered") expect(reply.headers["location"]).to.equal("/m/1");
    expect(asked).to.equal(3);
  });

  it("ends in its time, and when it is cut off, while the origin is asked for its protocol", async () => {
    const port = await tcp(() => {});
    const one = asker();
    expect((await over(one, port, { connectTimeoutMs: 50 })).kind).to.equal("unreached");
    const cut = new AbortController();
    const asked = ask(one, `https://localhost:${port}/`, { mayUseHttp2: true, connectTimeoutMs: 20_000 }, cut.signal);
    await until(() => connections() === 2);
    cut.abort();
    expect((await asked).kind).to.equal("unreached");
  });
});
