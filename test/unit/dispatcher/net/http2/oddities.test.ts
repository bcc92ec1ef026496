import { expect } from "chai";
import { exchanges } from "../../../../support/http2/exchange.ts";
import {
  endHeaders,
  endStream,
  field,
  hasPriority,
  informational,
  ok,
  type Peer,
  padded,
  raw,
  settings,
  status200,
  types,
  u32,
} from "../../../../support/http2/peer.ts";
import { until } from "../../../../support/until.ts";

const headers200 = raw(types.headers, endHeaders, 1, status200);
const data = (text: string, flags = 0) => raw(types.data, flags, 1, text);
const padding = (bytes: number) => Buffer.alloc(bytes);
const paddedData = (text: string, bytes: number, flags = 0) =>
  raw(types.data, padded | flags, 1, Buffer.concat([Buffer.of(bytes), Buffer.from(text), padding(bytes)]));
const priority = u32(0x8000_0003, 0).subarray(0, 5);
const ping = (payload: Buffer) => raw(types.ping, 0, 0, payload);
const manyFragments = Buffer.concat([status200, field("apns-id", "1")]);

/** Legal answers to the request on stream 1, each with the body "said" unless another is expected. */
const oddities: { it: string; sent: Buffer[]; body?: string; headers?: Record<string, string> }[] = [
  {
    it: "pads HEADERS and DATA, by nothing and by all there can be (6.1, 6.2)",
    sent: [
      raw(types.headers, endHeaders | padded, 1, Buffer.concat([Buffer.of(255), status200, padding(255)])),
      paddedData("sa", 0),
      paddedData("", 255),
      paddedData("id", 255, endStream),
    ],
  },
  {
    it: "sends HEADERS with a priority, and padded (6.2)",
    sent: [
      raw(
        types.headers,
        endHeaders | padded | hasPriority,
        1,
        Buffer.concat([Buffer.of(3), priority, status200, padding(3)]),
      ),
      data("said", endStream),
    ],
  },
  {
    it: "continues HEADERS byte by byte, with empty fragments between (6.10)",
    sent: [
      raw(types.headers, endStream, 1),
      ...[...manyFragments].flatMap((byte) => [
        raw(types.continuation, 0, 1, Buffer.of(byte)),
        raw(types.continuation, 0, 1),
      ]),
      raw(types.continuation, endHeaders, 1),
    ],
    headers: { ":status": "200", "apns-id": "1" },
    body: "",
  },
  {
    it: "sends informational answers first (8.1)",
    sent: [
      raw(types.headers, endHeaders, 1, informational(100)),
      raw(types.headers, 0, 1, informational(103)),
      raw(types.continuation, endHeaders, 1, field("link", "x")),
      headers200,
      data("said", endStream),
    ],
    headers: { ":status": "200" },
  },
  {
    it: "sends trailers, also in parts (8.1)",
    sent: [
      headers200,
      data("said"),
      raw(types.headers, endStream, 1),
      raw(types.continuation, endHeaders, 1, Buffer.concat([field("status", "500"), field("x", "y")])),
    ],
    headers: { ":status": "200" },
  },
  { it: "sends trailers and no data", sent: [headers200, raw(types.headers, 5, 1, field("x", "y"))], body: "" },
  {
    it: "sends empty DATA, first, between and last (6.1)",
    sent: [headers200, data(""), data("sa"), data(""), data(""), data("id"), data("", endStream)],
  },
  {
    it: "sends frames, flags and settings that nobody knows (4.1, 5.5, 6.5.2)",
    sent: [
      raw(0x0a, 0xff, 0, "ALTSVC"),
      raw(0x10, 0, 0, "PRIORITY_UPDATE"),
      raw(0xff, 0xff, 99, "of a stream that is not there"),
      settings([0x7777, 0xffff_ffff], [9, 1]),
      raw(types.headers, endHeaders | 0xd2, 1, status200),
      raw(0x0b, 0, 1, "on the stream"),
      data("said", endStream | 0xf6),
    ],
  },
  {
    it: "sends PRIORITY for streams that are there, were there and never will be (6.3)",
    sent: [1, 2, 3, 0x7fff_ffff]
      .map((streamId) => raw(types.priority, 0, streamId, priority))
      .concat([headers200, data("said", endStream), raw(types.priority, 0, 1, priority)]),
  },
  {
    it: "sets the reserved bits (4.1, 6.8, 6.9)",
    sent: [
      raw(types.windowUpdate, 0, 0x8000_0000, u32(0x8000_0001)),
      raw(types.headers, endHeaders, 0x8000_0001, status200),
      raw(types.data, endStream, 0x8000_0001, "said"),
    ],
  },
  {
    it: "widens streams that are half closed, and closed (6.9)",
    sent: [
      raw(types.windowUpdate, 0, 1, u32(0x7fff_ffff - 65_535)),
      headers200,
      data("said", endStream),
      raw(types.windowUpdate, 0, 1, u32(0x7fff_ffff)),
    ],
  },
  {
    it: "goes on about a stream that is over, and resets it (5.1)",
    sent: [headers200, data("said", endStream), data("more"), raw(types.rstStream, 0, 1, u32(0)), headers200],
  },
  {
    it: "sends 500 bytes one by one, each with all the padding there is (6.9)",
    sent: [headers200, ...Array.from({ length: 500 }, () => paddedData("x", 255)), data("", endStream)],
    body: "x".repeat(500),
  },
  {
    it: "changes the size of its table again and again (RFC 7541 4.2, 6.3)",
    sent: [
      raw(
        types.headers,
        5,
        1,
        Buffer.from("20 3f e1 1f 88 40 01 61 01 31 be".replaceAll(" ", ""), "hex"), // 0, 4,096; status; a: 1, twice
      ),
    ],
    headers: { ":status": "200", a: "1" },
    body: "",
  },
];

describe("a peer whose answers are odd, and legal", () => {
  const { start, ask, pool, peer } = exchanges();
  const serving =
    (...sent: Buffer[]) =>
    async (server: Peer) => {
      server.send(settings());
      await server.requested();
      server.send(...sent);
      await server.requested(2);
      server.send(ok(3));
    };

  for (const { it: name, sent, body = "said", headers } of oddities)
    it(name, async () => {
      await start(serving(...sent));
      const answer = await ask();
      expect(answer).to.include({ kind: "answer", status: 200, body });
      if (headers !== undefined) expect(answer).to.have.deep.property("headers", headers);
      expect((await ask("2")).kind).to.equal("answer"); // on the same connection
      expect(pool().stats().opened).to.equal(1);
    });

  it("arrives byte by byte", async () => {
    await start(async (server) => {
      server.send(settings());
      await server.requested();
      for (const byte of Buffer.concat([headers200, paddedData("said", 3, endStream)])) {
        server.send(Buffer.of(byte));
        await new Promise(setImmediate);
      }
    });
    expect(await ask()).to.include({ kind: "answer", body: "said" });
  });

  it("answers in another order, with the data of both answers mixed", async () => {
    await start(async (server) => {
      server.send(settings());
      await server.requested(2);
      server.send(raw(types.headers, endHeaders, 3, status200), headers200);
      server.send(raw(types.data, 0, 3, "b"), data("a"), raw(types.data, endStream, 3, "b"), data("a", endStream));
    });
    const bodies = (await Promise.all([ask("1"), ask("2")])).map((answer) => answer.kind === "answer" && answer.body);
    expect(bodies).to.deep.equal(["aa", "bb"]);
  });

  it("gets each SETTINGS and each PING acknowledged, in their order (6.5.3, 6.7)", async () => {
    await start(
      serving(headers200, settings([3, 50]), ping(u32(1, 2)), settings(), ping(u32(3, 4)), data("", endStream)),
    );
    await ask();
    await ask("2");
    const acknowledged = () => peer().received.filter(({ flags, type }) => flags === 1 && [4, 6].includes(type));
    await until(() => acknowledged().length === 5);
    expect(acknowledged().map(({ type, payload }) => [type, payload.toString("hex")])).to.deep.equal([
      [types.settings, ""],
      [types.settings, ""],
      [types.ping, "0000000100000002"],
      [types.settings, ""],
      [types.ping, "0000000300000004"],
    ]);
  });

  it("lets unfinished streams be answered after GOAWAY in two steps, and what came too late goes elsewhere (6.8)", async () => {
    await start(
      async (server, nth) => {
        server.send(settings([3, 2]));
        await server.requested(nth === 1 ? 2 : 1);
        if (nth > 1) return server.send(ok(1));
        server.send(raw(types.goaway, 0, 0, u32(0x7fff_ffff, 0)), ping(u32(0, 0)));
        await server.got(types.ping, ({ flags }) => flags === 1);
        server.send(raw(types.goaway, 0, 0, u32(1, 0)), ok(1));
      },
      { maxAttempts: 5 },
    );
    const kinds = (await Promise.all([ask("1"), ask("2")])).map(({ kind }) => kind);
    expect(kinds).to.deep.equal(["answer", "answer"]);
    expect(pool().stats().opened).to.equal(2);
  });

  it("may raise the last stream of a second GOAWAY: what was sent elsewhere stays there", async () => {
    await start(
      async (server, nth) => {
        server.send(settings());
        await server.requested();
        if (nth === 1) server.send(raw(types.goaway, 0, 0, u32(0, 0)), raw(types.goaway, 0, 0, u32(9, 0)));
        server.send(ok(1));
      },
      { maxAttempts: 5 },
    );
    expect(await ask()).to.include({ kind: "answer", status: 200 });
    expect(pool().stats().opened).to.equal(2);
  });

  it("may take larger frames: ours stay at the size that all take (4.2)", async () => {
    await start(serving(settings([5, 0xff_ffff]), ok(1)));
    await ask("x".repeat(16_384));
    await ask("x".repeat(16_384));
    expect(await ask("x".repeat(16_385))).to.include({ kind: "impossible", code: "PAYLOAD_TOO_LARGE" });
    expect(Math.max(...peer().received.map(({ payload }) => payload.length))).to.equal(16_384);
  });

  it("may have no table for our headers, and learns from the next ones that we use none (4.3.1)", async () => {
    const updates = [[], [65_536], [4_096], [0], [0], [4_096], [1_000, 2_000]]; // of the table, before each request
    await start(async (server) => {
      for (const [n, sizes] of updates.entries()) {
        server.send(settings(), ...sizes.map((bytes) => settings([1, bytes])), ...(n === 0 ? [] : [ok(2 * n - 1)]));
        await server.requested(n + 1);
      }
      server.send(ok(2 * updates.length - 1));
    });
    for (const _ of updates) await ask();
    const blocks = peer().received.filter(({ type }) => type === types.headers);
    const [name, update] = [0x02, 0x20]; // ":method" by its name; a table of 0 bytes
    expect(blocks.map(({ payload }) => payload[0])).to.deep.equal([name, name, update, update, name, name, update]);
  });
});
