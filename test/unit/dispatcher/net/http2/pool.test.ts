import { expect } from "chai";
import { NotBegun } from "#core/domain/messages/outcome.ts";
import { selfSigned } from "../../../../../dev/simulators/kit/certificate.ts";
import { type SimulatedServer, startHttp2Server } from "../../../../../dev/simulators/kit/http2-server.ts";
import { calm, type Script } from "../../../../../dev/simulators/kit/script.ts";
import { type Http2Pool, type Http2PoolOptions, http2Pool } from "../../../../../dispatcher/net/http2/pool.ts";
import { providerOrigin, type TransportResult } from "../../../../../dispatcher/net/transport.ts";
import { inSuite } from "../../../../support/suite/soak.ts";
import { until } from "../../../../support/until.ts";

const tls = selfSigned();
const never = new AbortController().signal;
/** Connections that are left after {@link ofConnection} requests each. */
const connections = inSuite(4, { soak: 20 });
const ofConnection = 1_000;
const requests = connections * ofConnection;

describe("http2Pool", () => {
  let server: SimulatedServer;
  let pool: Http2Pool;
  /** How often each body was processed by the server. */
  let processed: Map<string, number>;

  const start = async (script: Partial<Script>, options: Partial<Http2PoolOptions> = {}, initialStreams?: number) => {
    processed = new Map();
    server = await startHttp2Server({
      port: 0,
      tls,
      ...(initialStreams === undefined ? {} : { initialStreams }),
      answer: ({ body }) => {
        processed.set(body, (processed.get(body) ?? 0) + 1);
        return body === "echo" ? { status: 200, body: "said echo" } : { status: 200 };
      },
    });
    server.apply({ ...calm, ...script });
    pool = http2Pool({ origin: server.url, ca: tls.cert, ...options });
  };
  const request = (body: string, { timeoutMs = 8000, signal = never } = {}) =>
    pool.request({ path: "/x", headers: { "content-type": "text/plain" }, body, timeoutMs, signal });

  /** Sends `count` different bodies, `width` at a time, and counts what became of them. */
  const flood = async (count: number, width: number, options: { timeoutMs?: number } = {}) => {
    const results = new Map<string, TransportResult>();
    let next = 0;
    const worker = async () => {
      while (next < count) {
        const body = `body ${next++}`;
        results.set(body, await request(body, options));
      }
    };
    await Promise.all(Array.from({ length: width }, worker));
    const kinds = { answer: 0, not_sent: 0, broken: 0, impossible: 0 };
    for (const { kind } of results.values()) kinds[kind]++;
    return { results, kinds };
  };
  const repeated = () => [...processed.values()].filter((times) => times > 1).length;
  const lost = (results: Map<string, TransportResult>) =>
    [...results].filter(([body, { kind }]) => kind === "answer" && !processed.has(body)).length;
  const falselyNotSent = (results: Map<string, TransportResult>) =>
    [...results].filter(([body, { kind }]) => kind === "not_sent" && processed.has(body)).length;

  afterEach(async () => {
    await pool.close();
    await server.stop();
  });

  it("gives the provider's answer with its body", async () => {
    await start({});
    const answer = await request("echo");
    expect(answer).to.include({ kind: "answer", status: 200, body: "said echo" });
  });

  it("loses and repeats nothing over thousands of requests with a GOAWAY after each 1,000 streams", async () => {
    await start({ goaway_every: ofConnection });
    const { kinds } = await flood(requests, 500);
    expect(kinds).to.deep.equal({ answer: requests, not_sent: 0, broken: 0, impossible: 0 });
    expect(processed.size).to.equal(requests);
    expect(repeated()).to.equal(0);
    expect(pool.stats().opened).to.be.at.least(connections);
  });

  it("counts exactly those as broken whose answer a TCP reset took, and repeats none of them", async () => {
    await start({ reset_every: ofConnection });
    const { kinds, results } = await flood(requests, 300);
    expect(kinds.answer + kinds.broken).to.equal(requests);
    expect(kinds.broken).to.be.within(1, connections * 301);
    expect(lost(results)).to.equal(0);
    expect(falselyNotSent(results)).to.equal(0);
    expect(repeated()).to.equal(0);
  });

  it("follows the provider's limit of streams from 1 to 1,000 to 10 without losing or repeating any", async () => {
    await start({}, { initialStreams: 1 }, 1);
    const sending = flood(requests, 600);
    const shrink = setInterval(() => {
      if (processed.size > 0.4 * requests) server.apply({ ...calm, max_streams: 10 });
    }, 5);
    const { kinds } = await sending.finally(() => clearInterval(shrink));
    expect(kinds).to.deep.equal({ answer: requests, not_sent: 0, broken: 0, impossible: 0 });
    expect(repeated()).to.equal(0);
  });

  it("leaves a connection that went deaf and sends the rest over a new one", async () => {
    await start({ deaf_after: 500 }, { quietMs: 300, pingTimeoutMs: 300 });
    const { kinds, results } = await flood(2000, 200);
    expect(kinds.answer + kinds.broken).to.equal(2000);
    expect(kinds.broken).to.be.within(1, 4 * 201);
    expect(lost(results)).to.equal(0);
    expect(repeated()).to.equal(0);
  });

  for (const answers of [0, 1, 3])
    it(`puts few requests at stake on connections that break again and again after ${answers} answers`, async () => {
      await start({ reset_every: answers + 1 });
      const { kinds } = await flood(200, 100, { timeoutMs: 2_000 });
      expect(kinds.answer + kinds.broken + kinds.not_sent).to.equal(200);
      expect(kinds.broken).to.be.at.most(100 + 20 * (answers + 1)); // those of the first connection, and few of each other
      expect(repeated()).to.equal(0);
    });

  it("puts one request at stake after a connection that answered and then went deaf", async () => {
    await start({ deaf_after: 2 });
    expect((await request("answered")).kind).to.equal("answer");
    for (let n = 0; n < 10 && pool.stats().connections > 0; n++)
      expect((await request(`unheard ${n}`, { timeoutMs: 300 })).kind).to.equal("broken");
    server.apply({ ...calm, deaf_after: 1 });
    const { kinds } = await flood(5, 5, { timeoutMs: 1_000 });
    expect(kinds.broken).to.be.at.most(1);
  });

  it("goes on at full width once connections last again", async () => {
    await start({ reset_every: 2 });
    await flood(150, 100, { timeoutMs: 500 });
    server.apply(calm);
    const { kinds } = await flood(5_000, 200);
    expect(kinds).to.include({ answer: 5_000, broken: 0 });
  });

  it("settles every request when resets and GOAWAYs come with many requests under way", async () => {
    await start({ reset_every: 700, goaway_every: 400 });
    const { kinds, results } = await flood(10_000, 1000);
    expect(kinds.answer + kinds.broken + kinds.not_sent).to.equal(10_000);
    expect(falselyNotSent(results)).to.equal(0);
    expect(lost(results)).to.equal(0);
    expect(repeated()).to.equal(0);
  });

  it("says not_sent, after a bounded number of attempts, when the provider refuses connections", async () => {
    await start({ refuse_connections: true });
    const result = await request("a");
    expect(result.kind).to.equal("not_sent");
    expect(pool.stats().opened).to.equal(5);
  });

  it("grows by demand to its bound and no further, and closes idle connections", async () => {
    await start({ delay_ms: 100, max_streams: 10 }, { maxConnections: 3, idleMs: 200 });
    const sending = flood(300, 100);
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, pool.stats().connections);
    }, 10);
    await sending.finally(() => clearInterval(watch));
    expect(most).to.equal(3);
    await until(() => pool.stats().connections === 0);
  });

  it("refuses to queue more than its bound", async () => {
    await start({ delay_ms: 200, max_streams: 1 }, { maxConnections: 1, maxWaiting: 5 });
    const { kinds } = await flood(20, 20);
    expect(kinds.not_sent).to.be.at.least(10);
    expect(kinds.broken).to.equal(0);
  });

  it("is broken when a request is over its time, and not_sent when it never got a stream", async () => {
    const one = { ...calm, max_streams: 1 };
    await start(one, { maxConnections: 1, initialStreams: 1 });
    await request("that the connection is there");
    server.apply({ ...one, delay_ms: 5000 });
    const [first, second] = await Promise.all([request("a", { timeoutMs: 400 }), request("b", { timeoutMs: 300 })]);
    expect([first.kind, second.kind]).to.deep.equal(["broken", "not_sent"]);
    expect(processed.has("b")).to.equal(false);
  });

  it("gives up a waiting request, and is broken for one that was sent, when they are cut off", async () => {
    await start({ max_streams: 1 }, { maxConnections: 1 });
    await request("first"); // by then the limit is known
    server.apply({ ...calm, delay_ms: 5000, max_streams: 1 });
    const stop = new AbortController();
    const underWay = [request("a", { signal: stop.signal }), request("b", { signal: stop.signal })];
    await until(() => processed.has("a"));
    stop.abort();
    const [sent, waiting] = await Promise.allSettled(underWay);
    expect(sent).to.have.nested.property("value.kind", "broken");
    expect(waiting).to.have.property("reason").that.is.instanceOf(NotBegun);
  });

  it("finishes what it has before it closes, and takes nothing after", async () => {
    await start({ delay_ms: 150 });
    const underWay = request("a");
    const closed = pool.close();
    expect((await request("b")).kind).to.equal("not_sent");
    await closed;
    expect((await underWay).kind).to.equal("answer");
  });

  it("does not trust a certificate that no given authority vouches for", async () => {
    await start({}, { ca: selfSigned().cert, maxAttempts: 1 });
    expect((await request("a")).kind).to.equal("not_sent");
    expect(processed.size).to.equal(0);
  });
});

describe("providerOrigin", () => {
  it("admits https anywhere and http on loopback only", () => {
    expect(providerOrigin("https://api.push.apple.com/")).to.equal("https://api.push.apple.com");
    expect(providerOrigin("http://127.0.0.1:8080")).to.equal("http://127.0.0.1:8080");
    expect(() => providerOrigin("http://push.example.com")).to.throw("must be https");
  });
});
