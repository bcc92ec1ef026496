import { expect } from "chai";
import { type Http2Pool, type Http2PoolOptions, http2Pool } from "../../../dispatcher/net/http2/pool.ts";
import type { TransportResult } from "../../../dispatcher/net/transport.ts";
import { type ConformancePeer, type PeerSettings, peers } from "./peers.ts";

const never = new AbortController().signal;
const usual: PeerSettings = { streams: 100, tableBytes: 4_096 };
const printable = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n))
  .join("")
  .trim();

for (const peer of peers)
  describe(`the HTTP/2 client and ${peer.name}`, () => {
    const servers = new Map<string, ReturnType<ConformancePeer["start"]>>(); // one for each settings: a JVM takes a second
    let origin: string;
    let pool: Http2Pool;

    const start = async (settings: Partial<PeerSettings> = {}, options: Partial<Http2PoolOptions> = {}) => {
      const key = JSON.stringify(settings);
      const starting = servers.get(key) ?? peer.start({ ...usual, ...settings });
      servers.set(key, starting);
      const { ca, ...server } = await starting;
      origin = server.origin;
      pool = http2Pool({ origin, ...(ca === undefined ? {} : { ca }), ...options });
    };
    const ask = (path: string, body: string | Buffer = "x", headers: Record<string, string> = {}) =>
      pool.request({ path, headers, body, timeoutMs: 90_000, signal: never });
    const answersOf = async (count: number, make: (n: number) => Promise<TransportResult>) => {
      const answers = await Promise.all(Array.from({ length: count }, (_, n) => make(n)));
      return answers.map((answer) => (answer.kind === "answer" ? answer.body : answer.reason));
    };
    const bodies = (count: number) => Array.from({ length: count }, (_, n) => `body ${n}`);
    const itsPath = (path: ConformancePeer["paths"][number]) => (peer.paths.includes(path) ? it : it.skip);

    before(function () {
      if (!peer.isThere()) this.skip(); // "make install" has said why
    });
    afterEach(() => pool.close());
    after(async () => {
      for (const server of servers.values()) await (await server).stop();
    });

    it("exchange 2,000 bodies over one connection", async () => {
      await start({}, { maxConnections: 1 });
      expect(await answersOf(2_000, (n) => ask("/echo", `body ${n}`))).to.deep.equal(bodies(2_000));
      expect(pool.stats().opened).to.equal(1);
    });

    itsPath("/echo")("agree on method, path, authority and headers, whatever characters they have", async () => {
      await start();
      const path = "/echo?a=%20b&c=d/e~f";
      const answer = await ask(path, "", { "x-sent": printable, authorization: "bearer secret" });
      if (answer.kind !== "answer") throw new Error(answer.reason);
      expect(answer.headers["x-asked"]).to.equal(`POST ${new URL(origin).host} ${path}`);
      expect(answer.headers["x-sent"]).to.equal(printable);
    });

    it("exchange bodies of a whole frame, more than their windows take at once", async () => {
      await start();
      const whole = "x".repeat(16_384);
      expect(new Set(await answersOf(60, () => ask("/echo", whole)))).to.deep.equal(new Set([whole]));
    });

    it("exchange bytes that are no text, and none at all", async () => {
      await start();
      expect(await ask("/echo", Buffer.from("päckchen"))).to.include({ body: "päckchen" });
      expect(await ask("/echo", "")).to.include({ kind: "answer", body: "" });
    });

    for (const tableBytes of [0, 100, 65_536])
      it(`go on when the server has a table of ${tableBytes} bytes for our headers`, async () => {
        await start({ tableBytes });
        for (let n = 0; n < 5; n++) expect(await ask("/echo", `${n}`)).to.include({ kind: "answer", body: `${n}` });
        expect(pool.stats().opened).to.equal(1);
      });

    for (const streams of [1, 10, 1_000])
      it(`keep to ${streams} streams at once`, async () => {
        await start({ streams }, { initialStreams: 1, maxConnections: 1 });
        expect(await answersOf(100, (n) => ask("/echo", `body ${n}`))).to.deep.equal(bodies(100));
        expect(pool.stats().opened).to.equal(1);
      });

    itsPath("/hints")("pass over informational answers and trailers", async () => {
      await start();
      const answer = await ask("/hints", "said");
      expect(answer).to.include({ kind: "answer", status: 200, body: "said" });
      expect(answer).to.not.have.nested.property("headers.x-after");
    });

    itsPath("/reset")("agree that a reset stream is broken, and no other one", async () => {
      await start();
      const [reset, other] = await Promise.all([ask("/reset"), ask("/echo")]);
      expect([reset.kind, other.kind]).to.deep.equal(["broken", "answer"]);
      expect(pool.stats().opened).to.equal(1);
    });

    itsPath("/refuse")("agree that a refused stream was not sent, however often it is tried", async () => {
      await start({}, { maxAttempts: 3 });
      expect(await ask("/refuse")).to.deep.equal({ kind: "not_sent", reason: "the stream was reset with code 7" });
      expect((await ask("/echo")).kind).to.equal("answer");
    });

    itsPath("/goaway")("lose nothing when the server says GOAWAY again and again", async () => {
      await start();
      const answers = await answersOf(1_000, (n) => ask(n % 50 === 25 ? "/goaway" : "/echo", `body ${n}`));
      expect(answers).to.deep.equal(bodies(1_000));
      expect(pool.stats().opened).to.be.above(1);
    });
  });
