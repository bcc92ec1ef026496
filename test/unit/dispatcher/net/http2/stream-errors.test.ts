import { expect } from "chai";
import { Http2Wire } from "../../../../../dispatcher/net/http2/wire.ts";
import { exchanges } from "../../../../support/http2/exchange.ts";
import {
  endHeaders,
  endStream,
  field,
  informational,
  ok,
  raw,
  settings,
  status200,
  types,
  u32,
} from "../../../../support/http2/peer.ts";

const maxWindow = 0x7fff_ffff;
const codes = { PROTOCOL_ERROR: 1, FLOW_CONTROL_ERROR: 3, FRAME_SIZE_ERROR: 6 } as const;

type Fault = { it: string; section: string; code: keyof typeof codes; sent: Buffer[] };

const status = (text: string): Buffer => raw(types.headers, endHeaders | endStream, 1, field(":status", text));
const headers200 = raw(types.headers, endHeaders, 1, status200);

/** What the server sends once the request on stream 1 has come. */
const faults: Fault[] = [
  { section: "6.3", it: "sends a short PRIORITY", code: "FRAME_SIZE_ERROR", sent: [raw(types.priority, 0, 1, "1234")] },
  { section: "6.9", it: "widens by nothing", code: "PROTOCOL_ERROR", sent: [raw(types.windowUpdate, 0, 1, u32(0))] },
  {
    section: "6.9.1",
    it: "widens by more than a window may be",
    code: "FLOW_CONTROL_ERROR",
    sent: [raw(types.windowUpdate, 0, 1, u32(maxWindow))],
  },
  {
    section: "6.9.1",
    it: "does so in many steps",
    code: "FLOW_CONTROL_ERROR",
    sent: Array.from({ length: 4 }, () => raw(types.windowUpdate, 0, 1, u32(0x2000_0000))),
  },
  {
    section: "8.1",
    it: "sends data before the status",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.data, endStream, 1, "x")],
  },
  { section: "8.1", it: "ends with 103", code: "PROTOCOL_ERROR", sent: [raw(types.headers, 5, 1, informational(103))] },
  { section: "8.1", it: "sends no field at all", code: "PROTOCOL_ERROR", sent: [raw(types.headers, endHeaders, 1)] },
  {
    section: "8.3.2",
    it: "sends no status",
    code: "PROTOCOL_ERROR",
    sent: [raw(types.headers, 5, 1, field("a", "b"))],
  },
  ...["2e2", "0xC8", " 200", "99", "1000", ""].map((text) => ({
    section: "8.3.2",
    it: `sends the status "${text}"`,
    code: "PROTOCOL_ERROR" as const,
    sent: [status(text)],
  })),
];

describe("a peer that breaks the protocol of HTTP/2 for one stream", () => {
  const { start, ask, pool, peer, server } = exchanges();

  for (const { it: name, section, code, sent } of faults)
    it(`ends that stream with ${code}, and no other, when it ${name} (RFC 9113 ${section})`, async () => {
      await start(async (server) => {
        server.send(settings());
        await server.requested(2);
        server.send(...sent);
        await server.got(types.rstStream);
        server.send(ok(3));
      });
      const [faulty, other] = await Promise.all([ask("1"), ask("2")]);
      expect(faulty).to.deep.equal({ kind: "broken", reason: `the answer breaks the protocol: ${code}` });
      expect(other).to.include({ kind: "answer", status: 200 });
      const { streamId, payload } = await peer().got(types.rstStream);
      expect([streamId, payload]).to.deep.equal([1, u32(codes[code])]);
      expect(pool().stats().opened).to.equal(1);
    });

  it("keeps an answer whose end breaks the protocol: the provider took the request (RFC 9113 8.1)", async () => {
    await start(async (server) => {
      server.send(settings());
      await server.requested();
      server.send(headers200, raw(types.headers, endHeaders, 1, field("not", "the end")));
    });
    expect(await ask()).to.include({ kind: "answer", status: 200 });
    expect((await peer().got(types.rstStream)).payload).to.deep.equal(u32(codes.PROTOCOL_ERROR));
  });

  for (const [code, name] of [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "CANCEL",
    "HTTP_1_1_REQUIRED",
    "unknown",
  ].entries())
    it(`says nothing back to RST_STREAM (${name}), and does not send the request again (RFC 9113 5.4.2, 7)`, async () => {
      const wire = [0, 1, 2, 8, 13, 0xdead_beef][code] ?? 0;
      await start(
        async (server) => {
          server.send(settings());
          await server.requested();
          server.send(raw(types.rstStream, 0, 1, u32(wire)));
          await server.requested(2);
          server.send(ok(3));
        },
        { maxAttempts: 5 },
      );
      expect(await ask()).to.deep.equal({ kind: "broken", reason: `the stream was reset with code ${wire}` });
      expect((await ask("2")).kind).to.equal("answer");
      expect(peer().received.filter(({ type }) => type === types.rstStream)).to.deep.equal([]);
    });

  it("sends again what was refused, and says not_sent when it always is (RFC 9113 8.7)", async () => {
    let refused = 0;
    await start(
      async (server) => {
        server.send(settings());
        for (let nth = 1; ; nth++) {
          const streamId = await server.requested(nth);
          server.send(raw(types.rstStream, 0, streamId, u32(7)));
          refused++;
        }
      },
      { maxAttempts: 5 },
    );
    expect((await ask()).kind).to.equal("not_sent");
    expect(refused).to.equal(5);
  });

  for (const [what, after] of [
    ["refused", raw(types.rstStream, 0, 1, u32(7))],
    ["above the last stream of GOAWAY", raw(types.goaway, 0, 0, u32(0, 0))],
  ] as const)
    it(`does not send again what was answered before it was ${what}`, async () => {
      await start(
        async (server) => {
          server.send(settings());
          await server.requested();
          server.send(headers200, after);
        },
        { maxAttempts: 5 },
      );
      expect(await ask()).to.include({ kind: "answer", status: 200 });
      expect(peer().received.filter(({ type }) => type === types.headers)).to.have.length(1);
      expect(pool().stats().waiting).to.equal(0);
    });

  it("is heard when it resets a stream: another one that is late does not end the connection", async () => {
    await start(async (server) => {
      server.send(settings());
      server.send(ok(await server.requested()));
      await server.requested(4);
      server.send(raw(types.rstStream, 0, 5, u32(2)));
      await server.got(types.rstStream); // the client's, of the request that was late
      server.send(ok(7));
    });
    await ask("that the connection is there");
    const kinds = (await Promise.all([ask("late", 1_000), ask("reset"), ask("answered")])).map(({ kind }) => kind);
    expect(kinds).to.deep.equal(["broken", "broken", "answer"]);
  });

  it("is broken when the connection closes without a word (RFC 9113 5.4.3)", async () => {
    await start(async (server) => {
      server.send(settings());
      await server.requested(3);
      server.send(ok(1));
      server.socket.end();
    });
    const kinds = (await Promise.all([ask("1"), ask("2"), ask("3")])).map(({ kind }) => kind);
    expect(kinds).to.deep.equal(["answer", "broken", "broken"]);
  });

  it("is not taken for deaf because this process stood still: what came meanwhile is read first", async () => {
    await start(
      async (server) => {
        server.send(settings());
        await server.requested();
        await server.got(types.ping);
        await new Promise(setImmediate); // timers come next, before anything is read
        server.send(raw(types.ping, 1, 0, u32(0, 0)));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
        setTimeout(() => server.send(ok(1)), 200);
      },
      { quietMs: 100, pingTimeoutMs: 1_000 },
    );
    expect(await ask()).to.include({ kind: "answer", status: 200 });
  });

  it("is given nothing more once its socket has ended, however much was to be sent before that was noticed", async () => {
    await start(async (server) => {
      server.send(settings());
      await server.requested();
    });
    const ended = Promise.withResolvers<string>();
    const opened = Promise.withResolvers<void>();
    const nothing = (): void => {};
    const wire = new Http2Wire(
      { origin: server().origin },
      {
        opened: opened.resolve,
        closed: ended.resolve,
        writable: nothing,
        settings: nothing,
        headers: nothing,
        data: nothing,
        reset: nothing,
        fault: nothing,
        widened: nothing,
        goaway: nothing,
        pong: nothing,
      },
    );
    await opened.promise;
    wire.destroy("over");
    const streams = Array.from({ length: 300 }, () => wire.request("/", { "x-long": "v".repeat(1_000) }, ""));
    expect(await ended.promise).to.equal("over");
    expect(streams.every((stream) => typeof stream === "number" && !wire.wasWritten(stream))).to.equal(true);
  });
});
