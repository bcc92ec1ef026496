import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { expect } from "chai";
import fc from "fast-check";
import { NotBegun } from "#core/domain/messages/outcome.ts";
import { selfSigned } from "../../../../../dev/simulators/kit/certificate.ts";
import { flags, frame, frameReader, frameTypes } from "../../../../../dispatcher/net/http2/frames.ts";
import { type Http2Pool, type Http2PoolOptions, http2Pool } from "../../../../../dispatcher/net/http2/pool.ts";
import { until } from "../../../../support/until.ts";

const never = new AbortController().signal;

describe("the HTTP/2 client against Node's own server", () => {
  let server: Http2Server;
  let pool: Http2Pool;

  const start = async (serve: (stream: ServerHttp2Stream, body: string) => void, settings = {}) => {
    server = createServer({ settings });
    server.on("stream", (stream, headers) => {
      let body = "";
      stream.on("error", () => {});
      stream.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      stream.on("end", () => serve(Object.assign(stream, { asked: headers }), body));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    pool = http2Pool({ origin: `http://127.0.0.1:${port}` });
  };
  const request = (body: string | Buffer, headers: Record<string, string> = {}, timeoutMs = 3000) =>
    pool.request({ path: "/a?b=c", headers, body, timeoutMs, signal: never });

  afterEach(async () => {
    await pool.close();
    server.close();
  });

  it("carries method, path, authority, headers and body in both directions", async () => {
    await start((stream, body) => {
      const { asked } = stream as ServerHttp2Stream & { asked: object };
      stream.respond({ ":status": 201, "x-odd": "a:b, c%\u00e9 ~", "retry-after": "7" });
      stream.end(JSON.stringify({ asked, body }));
    });
    const answer = await request("päckchen", { authorization: "bearer x", "x-long": "v".repeat(3000) });
    if (answer.kind !== "answer") throw new Error(answer.reason);
    expect(answer.status).to.equal(201);
    expect(answer.headers).to.include({ "retry-after": "7", "x-odd": "a:b, c%\u00e9 ~" });
    const { asked, body } = JSON.parse(answer.body);
    expect(body).to.equal("päckchen");
    expect(asked).to.include({ ":method": "POST", ":scheme": "http", ":path": "/a?b=c", authorization: "bearer x" });
    expect(asked["x-long"]).to.have.length(3000);
  });

  it("sends a body of bytes, and none at all", async () => {
    await start((stream, body) => {
      stream.respond({ ":status": 200 });
      stream.end(`got ${body}`);
    });
    expect(await request(Buffer.from("bytes"))).to.include({ body: "got bytes" });
    expect(await request("")).to.include({ body: "got " });
  });

  it("takes the final status after an informational one, and ignores trailers", async () => {
    await start((stream) => {
      stream.additionalHeaders({ ":status": 103 });
      stream.respond({ ":status": 200 }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ after: "x", status: "500" }));
      stream.end("ok");
    });
    expect(await request("x")).to.include({ kind: "answer", status: 200, body: "ok" });
  });

  it("goes on when all answers are larger than the first window", async () => {
    await start((stream) => {
      stream.respond({ ":status": 200 });
      stream.end("x".repeat(20_000));
    });
    for (let n = 0; n < 10; n++) expect((await request("x")).kind).to.equal("answer");
  });

  it("goes on when all requests are larger than the peer's first window", async () => {
    await start((stream) => stream.respond({ ":status": 200 }, { endStream: true }));
    const answers = await Promise.all(Array.from({ length: 100 }, () => request("x".repeat(4000))));
    expect(answers.filter(({ kind }) => kind !== "answer")).to.deep.equal([]);
  });

  it("cuts an answer that is too long, and knows its status", async () => {
    await start((stream) => {
      stream.respond({ ":status": 400 });
      stream.end("x".repeat(60_000));
    });
    const answer = await request("x");
    expect(answer).to.include({ kind: "answer", status: 400 });
  });

  it("sends nothing of a request that is larger than one frame or than the peer's window", async () => {
    let asked = 0;
    const answer = (stream: ServerHttp2Stream) => {
      asked++;
      stream.respond({ ":status": 200 }, { endStream: true });
    };
    await start(answer, { initialWindowSize: 1000 });
    expect(await request("x".repeat(20_000))).to.include({ kind: "impossible", code: "PAYLOAD_TOO_LARGE" });
    expect((await request("x")).kind).to.equal("answer"); // by now the peer's settings are known
    expect((await request("x".repeat(2000))).kind).to.equal("not_sent");
    expect(asked).to.equal(1);
  });

  for (const value of ["a\r\nb: c", "a\u0000", "Ж", "é", " a", "a\t", "\u007f"])
    it(`refuses the header value ${JSON.stringify(value)}, and goes on`, async () => {
      let asked = 0;
      await start((stream) => {
        asked++;
        stream.respond({ ":status": 200 }, { endStream: true });
      });
      const refused = await request("x", { "x-odd": value });
      expect(refused).to.include({ kind: "impossible", code: "PROVIDER_REJECTED" });
      expect(refused).to.have.property("reason").that.contains("x-odd").and.does.not.contain(value);
      expect((await request("x", { "x-fine": "a b\tc ~!", "x-none": "" })).kind).to.equal("answer");
      expect([asked, pool.stats().opened]).to.deep.equal([1, 1]);
    });

  it("refuses a path that no request line may carry", async () => {
    await start((stream) => stream.respond({ ":status": 200 }, { endStream: true }));
    const ask = (path: string) => pool.request({ path, headers: {}, body: "x", timeoutMs: 3000, signal: never });
    for (const path of ["/a b", "/ä", "/a\r\n"]) expect((await ask(path)).kind).to.equal("impossible");
  });

  it("asks again for what it was about to send when the process stood still", async () => {
    const bodies: string[] = [];
    await start((stream, body) => {
      bodies.push(body);
      stream.respond({ ":status": 200 }, { endStream: true });
    });
    await request("that the connection is there");
    let isOver = false;
    const ask = (body: string, more = {}) =>
      pool.request({ path: "/", headers: {}, body, timeoutMs: 5000, signal: never, ...more });
    const asked = Promise.allSettled([ask("given up", { isOver: () => isOver }), ask("still wanted")]);
    standStill(1_200);
    isOver = true;
    const [givenUp, wanted] = await asked;
    expect(givenUp).to.have.property("reason").that.is.instanceOf(NotBegun);
    expect(wanted).to.have.nested.property("value.kind", "answer");
    expect(bodies).to.deep.equal(["that the connection is there", "still wanted"]);
  });

  it("is broken when the stream is reset, and tries a refused one again", async () => {
    let asked = 0;
    await start((stream) => {
      if (asked++ === 0) stream.close(7);
      else stream.close(2);
    });
    const result = await request("x");
    expect(result).to.deep.equal({ kind: "broken", reason: "the stream was reset with code 2" });
    expect(asked).to.equal(2);
  });
});

/** Nothing of this process runs for so long. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe("the HTTP/2 client against a peer that breaks the protocol", () => {
  let server: Server;
  let pool: Http2Pool;
  const sockets = new Set<Socket>();

  const listen = async (listener: Server): Promise<AddressInfo> => {
    server = listener;
    await once(server.listen(0, "127.0.0.1"), "listening");
    return server.address() as AddressInfo;
  };
  const misbehave = async (answer: Buffer, options: Partial<Http2PoolOptions> = {}) => {
    const { port } = await listen(
      createTcpServer((socket) => {
        sockets.add(socket);
        socket.on("error", () => {}).once("data", () => socket.write(answer));
      }),
    );
    pool = http2Pool({ origin: `http://127.0.0.1:${port}`, maxAttempts: 1, ...options });
    return pool.request({ path: "/", headers: {}, body: "x", timeoutMs: 2000, signal: never });
  };

  afterEach(async () => {
    await pool.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    server.close();
  });

  const settings = frame(frameTypes.settings, 0, 0, Buffer.alloc(0));

  it("finds an idle connection dead before the next request needs it", async () => {
    const answered = Buffer.concat([settings, frame(frameTypes.headers, 5, 1, Buffer.of(0x88))]);
    const result = await misbehave(answered, { quietMs: 20, pingTimeoutMs: 50 });
    expect(result).to.include({ kind: "answer", status: 200 });
    expect(pool.stats().connections).to.equal(1);
    await until(() => pool.stats().connections === 0);
  });

  it("names the network's error", async () => {
    await misbehave(Buffer.from("nonsense that is no frame"));
    const { port } = server.address() as AddressInfo;
    server.close();
    pool = http2Pool({ origin: `http://127.0.0.1:${port}`, maxAttempts: 1 });
    const refused = await pool.request({ path: "/", headers: {}, body: "x", timeoutMs: 2000, signal: never });
    expect(refused).to.deep.equal({ kind: "not_sent", reason: "could not connect: ECONNREFUSED" });
  });

  it("sends nothing to a peer that never finishes the handshake, and leaves it in time", async () => {
    const { port } = await listen(createTcpServer((socket) => sockets.add(socket.on("error", () => {}).resume())));
    pool = http2Pool({ origin: `https://127.0.0.1:${port}`, maxAttempts: 1, connectTimeoutMs: 300 });
    const result = await pool.request({ path: "/", headers: {}, body: "x", timeoutMs: 9000, signal: never });
    expect(result).to.deep.equal({ kind: "not_sent", reason: "could not connect: could not connect in time" });
    await until(() => [...sockets].every(({ readyState }) => readyState !== "open"));
  });

  it("sends nothing to a peer that agrees on no protocol", async () => {
    const tls = selfSigned();
    const { port } = await listen(createTlsServer(tls, (socket) => sockets.add(socket.on("error", () => {}))));
    pool = http2Pool({ origin: `https://127.0.0.1:${port}`, ca: tls.cert, maxAttempts: 1 });
    const result = await pool.request({ path: "/", headers: {}, body: "x", timeoutMs: 9000, signal: never });
    expect(result).to.deep.equal({
      kind: "not_sent",
      reason: "could not connect: the peer does not speak HTTP/2",
    });
  });

  it("gets what it is owed, when this process stood still before it was sent", async () => {
    const ping = frame(frameTypes.ping, 0, 0, Buffer.from("12345678"));
    const answered = frame(frameTypes.headers, 5, 1, Buffer.of(0x88));
    const acknowledged = frame(frameTypes.ping, flags.ack, 0, Buffer.from("12345678"));
    await misbehave(Buffer.concat([settings, ping, answered])); // its answers to the first two are not sent yet
    let received = Buffer.alloc(0);
    for (const socket of sockets)
      socket.on("data", (chunk) => {
        received = Buffer.concat([received, chunk]);
      });
    const second = pool.request({ path: "/", headers: {}, body: "second", timeoutMs: 300, signal: never });
    standStill(1_200);
    expect((await second).kind).to.equal("not_sent");
    await until(() => received.includes(acknowledged));
    expect(received.includes("second")).to.equal(false);
  });

  it("keeps what GOAWAY said as the reason, and returns what was above it", async () => {
    const payload = Buffer.concat([Buffer.alloc(8), Buffer.from('{"reason":"Shutdown"}')]);
    const result = await misbehave(Buffer.concat([settings, frame(frameTypes.goaway, 0, 0, payload)]));
    expect(result).to.deep.equal({ kind: "not_sent", reason: 'GOAWAY 0 {"reason":"Shutdown"}' });
  });
});

describe("frameReader", () => {
  it("finds the same frames wherever the network cuts them", () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 50 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(payloads, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (contents, cuts) => {
        const bytes = Buffer.concat(
          contents.map((content, n) => frame(frameTypes.data, 0, n + 1, Buffer.from(content))),
        );
        const found: number[][] = [];
        const read = frameReader(({ payload }) => found.push([...payload]));
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const length = cuts[n % cuts.length] ?? 1;
          read(bytes.subarray(at, at + length));
          at += length;
        }
        expect(found).to.deep.equal(contents.map((content) => [...content]));
      }),
    );
  });
});
