import { once } from "node:events";
import { expect } from "chai";
import { exchanges } from "../../../../support/http2/exchange.ts";
import {
  endHeaders,
  endStream,
  field,
  informational,
  ok,
  type Peer,
  raw,
  settings,
  status200,
  types,
  u32,
} from "../../../../support/http2/peer.ts";
import { until } from "../../../../support/until.ts";

const mostFrames = 10_000;
const megabyte = 1024 * 1024;
const calm = 11;

/** What comes again and again after the request on stream 1, which is never answered. */
const floods: { it: string; begin?: Buffer; frame: Buffer; isDeaf?: boolean }[] = [
  { it: "PING", frame: raw(types.ping, 0, 0, u32(0, 0)) },
  { it: "PING without reading the answers", frame: raw(types.ping, 0, 0, u32(0, 0)), isDeaf: true },
  { it: "SETTINGS", frame: settings([3, 100]) },
  { it: "SETTINGS without reading the answers", frame: settings(), isDeaf: true },
  { it: "acknowledgments of SETTINGS", frame: raw(types.settings, 1, 0) },
  { it: "empty DATA", begin: raw(types.headers, endHeaders, 1, status200), frame: raw(types.data, 0, 1) },
  {
    it: "DATA that is only padding",
    begin: raw(types.headers, endHeaders, 1, status200),
    frame: raw(types.data, 8, 1, Buffer.of(0)),
  },
  { it: "DATA of a stream that is over", begin: raw(types.rstStream, 0, 3, u32(0)), frame: raw(types.data, 0, 3, "x") },
  { it: "RST_STREAM of a stream that is over", frame: raw(types.rstStream, 0, 3, u32(8)) },
  { it: "HEADERS of a stream that is over", begin: raw(types.rstStream, 0, 3, u32(0)), frame: ok(3) },
  { it: "informational answers", frame: raw(types.headers, endHeaders, 1, informational(103)) },
  { it: "empty CONTINUATION", begin: raw(types.headers, 0, 1, status200), frame: raw(types.continuation, 0, 1) },
  { it: "PRIORITY", frame: raw(types.priority, 0, 5, "12345") },
  { it: "WINDOW_UPDATE", frame: raw(types.windowUpdate, 0, 1, u32(1)) },
  { it: "unknown frames", frame: raw(0xbe, 0, 0, "x") },
];

describe("a peer that floods the HTTP/2 client", () => {
  const { start, ask, pool, peer } = exchanges();

  /** Writes until the client has left, and counts. */
  const flood = async ({ socket, isClosed }: Peer, frame: Buffer, each: number): Promise<number> => {
    const many = Buffer.concat(Array.from({ length: each }, () => frame));
    let written = 0;
    for (; !isClosed() && written < 20 * mostFrames; written += each)
      if (!socket.write(many)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
    return written;
  };

  for (const { it: name, begin = Buffer.alloc(0), frame, isDeaf = false } of floods)
    it(`with ${name} is left with ENHANCE_YOUR_CALM, and takes no memory`, async () => {
      await start(async (server) => {
        server.send(settings());
        await server.requested(2);
        server.send(begin);
        if (isDeaf) server.socket.pause();
        await flood(server, frame, 500);
      });
      const before = process.memoryUsage();
      const [first, second] = await Promise.all([ask("1", 15_000), ask("2", 15_000)]);
      const after = process.memoryUsage();
      const reasons = [first, second].map((result) => ("reason" in result ? result.reason : result.kind));
      expect(reasons).to.include("ENHANCE_YOUR_CALM");
      expect(after.heapUsed + after.external - before.heapUsed - before.external).to.be.below(48 * megabyte);
      expect(pool().stats().connections).to.equal(0);
      if (isDeaf) peer().socket.resume();
      await until(() => peer().isClosed());
      const goaway = peer().received.find(({ type }) => type === types.goaway);
      if (goaway !== undefined) expect(goaway.payload.readUInt32BE(4)).to.equal(calm); // lost where we left data unread
    });

  it("with headers that never end is left after 64 KB of them", async () => {
    await start(async (server) => {
      server.send(settings());
      await server.requested();
      server.send(raw(types.headers, 0, 1, status200));
      await flood(server, raw(types.continuation, 0, 1, field("a", "b".repeat(100))), 10);
    });
    expect(await ask()).to.deep.equal({ kind: "broken", reason: "ENHANCE_YOUR_CALM" });
  });

  it("with large headers on every stream is read, and takes a bounded memory", async () => {
    const streams = 200;
    const bomb = Buffer.concat([status200, ...Array.from({ length: 3_000 }, (_, n) => field(`n${n}`, ""))]);
    await start(
      async (server) => {
        server.send(settings([3, streams]));
        await server.requested(streams);
        for (let nth = 1; nth <= streams; nth++) {
          server.send(raw(types.headers, 0, 2 * nth - 1, bomb.subarray(0, 16_384)));
          server.send(raw(types.continuation, endHeaders, 2 * nth - 1, bomb.subarray(16_384)));
        }
        for (let nth = 1; nth <= streams; nth++) server.send(raw(types.data, endStream, 2 * nth - 1));
      },
      { startStreams: streams, initialStreams: streams },
    );
    const before = process.memoryUsage().heapUsed;
    const answers = await Promise.all(Array.from({ length: streams }, () => ask("x", 20_000)));
    expect(new Set(answers.map(({ kind }) => kind))).to.deep.equal(new Set(["answer"]));
    expect(process.memoryUsage().heapUsed - before).to.be.below(64 * megabyte); // 600,000 fields are 100 MB and more
  });

  it("resets every stream, and is asked no more often than each request may be", async () => {
    const requests = 500;
    let reset = 0;
    await start(
      async (server) => {
        server.send(settings());
        for (let nth = 1; ; nth++) {
          server.send(raw(types.rstStream, 0, await server.requested(nth), u32(nth % 2 === 0 ? 7 : 2)));
          reset++;
        }
      },
      { maxAttempts: 5 },
    );
    const kinds = (await Promise.all(Array.from({ length: requests }, () => ask("x", 20_000)))).map(({ kind }) => kind);
    expect(kinds).to.include("broken").and.not.include("answer");
    expect(reset).to.be.at.most(5 * requests);
    expect(pool().stats().underWay).to.equal(0);
  });

  it("is not taken for one when many answers come in many frames", async () => {
    await start(async (server) => {
      server.send(settings());
      for (let nth = 1; nth <= 60; nth++) {
        const streamId = await server.requested(nth);
        server.send(raw(types.headers, endHeaders, streamId, status200));
        for (let n = 0; n < 300; n++) server.send(raw(types.data, 0, streamId, "x"));
        server.send(raw(types.data, endStream, streamId));
      }
    });
    for (let nth = 1; nth <= 60; nth++) expect(await ask()).to.include({ kind: "answer", body: "x".repeat(300) });
    expect(pool().stats().opened).to.equal(1);
  });
});
