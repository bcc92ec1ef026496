import { expect } from "chai";
import { http2Pool } from "../../../../../dispatcher/net/http2/pool.ts";
import { exchanges } from "../../../../support/http2/exchange.ts";
import {
  endHeaders,
  endStream,
  hasPriority,
  informational,
  ok,
  padded,
  raw,
  settings,
  status200,
  types,
  u32,
} from "../../../../support/http2/peer.ts";
import { until } from "../../../../support/until.ts";

/** What the server sends once the request on stream 1 has come; `first` stands before everything, in place of SETTINGS. */
type Fault = { it: string; section: string; code: keyof typeof codes; sent?: Buffer[]; first?: Buffer };

const codes = {
  PROTOCOL_ERROR: 1,
  FLOW_CONTROL_ERROR: 3,
  FRAME_SIZE_ERROR: 6,
  COMPRESSION_ERROR: 9,
} as const;

const never = new AbortController().signal;
const maxWindow = 0x7fff_ffff;
const unended = raw(types.headers, 0, 1, status200);

const faults: Fault[] = [
  {
    section: "3.4",
    it: "speaks another protocol",
    code: "FRAME_SIZE_ERROR",
    first: Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
  },
  { section: "3.4", it: "begins with another frame", code: "PROTOCOL_ERROR", first: raw(types.ping, 0, 0, u32(0, 0)) },
  { section: "3.4", it: "begins with an acknowledgment", code: "PROTOCOL_ERROR", first: raw(types.settings, 1, 0) },
  {
    section: "4.2",
    it: "sends more than a frame may be",
    code: "FRAME_SIZE_ERROR",
    sent: [raw(0, 0, 1, Buffer.alloc(16_385))],
  },
  {
    section: "4.3",
    it: "sends a block that is none",
    code: "COMPRESSION_ERROR",
    sent: [raw(types.headers, 5, 1, Buffer.of(0x80))],
  },
  {
    section: "4.3",
    it: "sends a block with a number that never ends",
    code: "COMPRESSION_ERROR",
    sent: [raw(types.headers, 5, 1, Buffer.alloc(6, 0xff))],
  },
  { section: "5.1", it: "answers what was not asked", code: "PROTOCOL_ERROR", sent: [ok(3)] },
  {
    section: "5.1",
    it: "sends data of a stream that is not there",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.data, 0, 3, "x")],
  },
  {
    section: "5.1",
    it: "widens a stream that is not there",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.windowUpdate, 0, 3, u32(1))],
  },
  { section: "5.1.1", it: "begins a stream of its own", code: "PROTOCOL_ERROR", sent: [ok(2)] },
  { section: "6.1", it: "sends DATA on the connection", code: "PROTOCOL_ERROR", sent: [raw(types.data, 0, 0, "x")] },
  {
    section: "6.1",
    it: "pads DATA by more than there is",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.data, padded, 1, Buffer.of(2, 1))],
  },
  {
    section: "4.2",
    it: "pads DATA and leaves out by how much",
    code: "FRAME_SIZE_ERROR",
    sent: [raw(types.data, padded, 1)],
  },
  {
    section: "6.2",
    it: "sends HEADERS on the connection",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.headers, 5, 0, status200)],
  },
  {
    section: "6.2",
    it: "pads HEADERS by more than there is",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.headers, endHeaders | padded, 1, Buffer.of(2, 0x88))],
  },
  {
    section: "6.2",
    it: "pads HEADERS into the priority",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.headers, endHeaders | padded | hasPriority, 1, Buffer.of(2, 0, 0, 0, 0, 1, 0x88))],
  },
  {
    section: "4.2",
    it: "leaves out half a priority",
    code: "FRAME_SIZE_ERROR",
    sent: [raw(types.headers, endHeaders | hasPriority, 1, Buffer.of(0, 0, 0))],
  },
  {
    section: "6.3",
    it: "sends PRIORITY on the connection",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.priority, 0, 0, "12345")],
  },
  { section: "6.4", it: "resets the connection", code: "PROTOCOL_ERROR", sent: [raw(types.rstStream, 0, 0, u32(0))] },
  {
    section: "6.4",
    it: "resets a stream that is not there",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.rstStream, 0, 3, u32(0))],
  },
  {
    section: "6.4",
    it: "sends a short RST_STREAM",
    code: "FRAME_SIZE_ERROR",
    sent: [raw(types.rstStream, 0, 1, "123")],
  },
  {
    section: "6.4",
    it: "sends a long RST_STREAM",
    code: "FRAME_SIZE_ERROR",
    sent: [raw(types.rstStream, 0, 1, "12345")],
  },
  { section: "6.5", it: "sends SETTINGS on a stream", code: "PROTOCOL_ERROR", sent: [raw(types.settings, 0, 1)] },
  {
    section: "6.5",
    it: "acknowledges with settings",
    code: "FRAME_SIZE_ERROR",
    sent: [raw(types.settings, 1, 0, "123456")],
  },
  {
    section: "6.5",
    it: "sends half a setting",
    code: "FRAME_SIZE_ERROR",
    sent: [raw(types.settings, 0, 0, "123456789")],
  },
  { section: "6.5.2", it: "admits pushes", code: "PROTOCOL_ERROR", sent: [settings([2, 1])] },
  { section: "6.5.2", it: "sets ENABLE_PUSH to 2", code: "PROTOCOL_ERROR", sent: [settings([2, 2])] },
  {
    section: "6.5.2",
    it: "sets a window that none may have",
    code: "FLOW_CONTROL_ERROR",
    sent: [settings([4, maxWindow + 1])],
  },
  {
    section: "6.5.2",
    it: "does so and takes it back",
    code: "FLOW_CONTROL_ERROR",
    sent: [settings([4, maxWindow + 1], [4, 1])],
  },
  { section: "6.5.2", it: "takes frames that are too short", code: "PROTOCOL_ERROR", sent: [settings([5, 16_383])] },
  { section: "6.5.2", it: "takes frames that cannot be", code: "PROTOCOL_ERROR", sent: [settings([5, 0x100_0000])] },
  { section: "6.6", it: "promises a push", code: "PROTOCOL_ERROR", sent: [raw(types.pushPromise, 4, 1, u32(2))] },
  { section: "6.7", it: "sends PING on a stream", code: "PROTOCOL_ERROR", sent: [raw(types.ping, 0, 1, u32(0, 0))] },
  { section: "6.7", it: "sends a short PING", code: "FRAME_SIZE_ERROR", sent: [raw(types.ping, 0, 0, "1234567")] },
  {
    section: "6.7",
    it: "sends a long acknowledgment of PING",
    code: "FRAME_SIZE_ERROR",
    sent: [raw(types.ping, 1, 0, "123456789")],
  },
  {
    section: "6.8",
    it: "sends GOAWAY on a stream",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.goaway, 0, 1, u32(1, 0))],
  },
  { section: "6.8", it: "sends a short GOAWAY", code: "FRAME_SIZE_ERROR", sent: [raw(types.goaway, 0, 0, "1234567")] },
  {
    section: "6.9",
    it: "widens the connection by nothing",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.windowUpdate, 0, 0, u32(0))],
  },
  {
    section: "6.9",
    it: "sends a short WINDOW_UPDATE",
    code: "FRAME_SIZE_ERROR",
    sent: [raw(types.windowUpdate, 0, 1, "123")],
  },
  {
    section: "6.9.1",
    it: "widens the connection by more than a window may be",
    code: "FLOW_CONTROL_ERROR",
    sent: [raw(types.windowUpdate, 0, 0, u32(maxWindow))],
  },
  {
    section: "6.9.2",
    it: "sets a window that makes an older stream's too wide",
    code: "FLOW_CONTROL_ERROR",
    sent: [raw(types.windowUpdate, 0, 1, u32(maxWindow - 65_535)), settings([4, 1_000_000])],
  },
  {
    section: "6.10",
    it: "continues nothing",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.continuation, 4, 1, status200)],
  },
  {
    section: "6.10",
    it: "continues on the connection",
    code: "PROTOCOL_ERROR",
    sent: [unended, raw(types.continuation, 4, 0)],
  },
  {
    section: "6.10",
    it: "continues after the end",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.headers, endHeaders, 1, informational(103)), raw(types.continuation, endHeaders, 1)],
  },
  { section: "6.2", it: "puts SETTINGS into a block", code: "PROTOCOL_ERROR", sent: [unended, settings()] },
  {
    section: "6.2",
    it: "puts DATA into a block",
    code: "PROTOCOL_ERROR",
    sent: [unended, raw(types.data, endStream, 1, "x")],
  },
  {
    section: "5.5",
    it: "puts an unknown frame into a block",
    code: "PROTOCOL_ERROR",
    sent: [unended, raw(0x77, 0, 1, "x")],
  },
  { section: "6.2", it: "begins a block in a block", code: "PROTOCOL_ERROR", sent: [unended, ok(1)] },
];

describe("a peer that breaks the protocol of HTTP/2 for the connection", () => {
  const { start, ask, pool, peer, server } = exchanges();

  for (const { it: name, section, code, sent = [], first = settings() } of faults)
    it(`is left with ${code} when it ${name} (RFC 9113 ${section})`, async () => {
      await start(async (server) => {
        server.send(first);
        await server.requested();
        server.send(...sent);
      });
      expect(await ask()).to.deep.equal({ kind: "broken", reason: code });
      const { payload } = await peer().got(types.goaway);
      expect(payload).to.deep.equal(u32(0, codes[code]));
      await until(() => peer().isClosed());
      expect(pool().stats().connections).to.equal(0);
    });

  it("is left with PROTOCOL_ERROR when it continues the headers of another stream (RFC 9113 6.10)", async () => {
    await start(async (server) => {
      server.send(settings());
      await server.requested(2);
      server.send(unended, raw(types.continuation, endHeaders | endStream, 3));
    });
    const results = await Promise.all([ask("1"), ask("2")]);
    expect(results).to.deep.equal(results.map(() => ({ kind: "broken", reason: "PROTOCOL_ERROR" })));
  });

  it("gets nothing more, and the next request goes to another connection (RFC 9113 5.4.1)", async () => {
    await start(async (server, nth) => {
      server.send(settings());
      await server.requested();
      if (nth > 1) return server.send(ok(1));
      server.send(raw(types.ping, 0, 1, u32(0, 0)), raw(types.ping, 0, 0, u32(7, 7)), ok(1));
    });
    expect(await ask()).to.deep.equal({ kind: "broken", reason: "PROTOCOL_ERROR" });
    expect(await ask("2", 15_000)).to.include({ kind: "answer", status: 200 });
    expect(peer().received.at(-1)).to.include({ type: types.goaway });
  });

  it("leaves no handle and no memory behind, however often it is left", async () => {
    const handles = () => process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length;
    await start(async (server) => {
      server.send(settings());
      await server.requested();
      server.send(unended, raw(types.data, padded, 1), Buffer.alloc(50_000));
    });
    const { origin } = server();
    const before = { handles: handles(), heap: process.memoryUsage().heapUsed };
    for (let n = 0; n < 100; n++) {
      const client = http2Pool({ origin, maxAttempts: 1 });
      const broken = await client.request({ path: "/", headers: {}, body: "x", timeoutMs: 5_000, signal: never });
      expect(broken).to.deep.equal({ kind: "broken", reason: "PROTOCOL_ERROR" });
      await client.close();
    }
    await until(() => handles() <= before.handles + 1);
    expect(process.memoryUsage().heapUsed - before.heap).to.be.below(64 * 1024 * 1024);
  });
});
