import { expect } from "chai";
import { exchanges } from "../../../../support/http2/exchange.ts";
import { endHeaders, ok, type Peer, raw, settings, status200, types, u32 } from "../../../../support/http2/peer.ts";
import { until } from "../../../../support/until.ts";

const sentBytes = ({ received }: Peer): number =>
  received.filter(({ type }) => type === types.data).reduce((sum, { payload }) => sum + payload.length, 0);
const large = "x".repeat(16_000);

describe("the windows of HTTP/2 (RFC 9113 6.9)", () => {
  const { start, ask, pool, peer } = exchanges();

  it("let no more out than the connection's window, and the rest once it is wider", async () => {
    await start(async (server) => {
      server.send(settings());
      await server.requested(4);
      server.send(raw(types.ping, 0, 0, u32(0, 0)));
      await server.got(types.ping, ({ flags }) => flags === 1);
      expect(sentBytes(server)).to.equal(4 * large.length); // 65,535 is the window: not 5
      server.send(ok(1), ok(3), ok(5), ok(7), raw(types.windowUpdate, 0, 0, u32(14_848)));
      server.send(raw(types.windowUpdate, 0, 0, u32(1)));
      await server.requested(5);
      server.send(ok(9));
    });
    const kinds = (await Promise.all(Array.from({ length: 5 }, () => ask(large)))).map(({ kind }) => kind);
    expect(kinds).to.deep.equal(Array(5).fill("answer"));
    expect(pool().stats().opened).to.equal(1);
  });

  it("may become negative: what was sent is answered, new requests are not sent until the peer takes them", async () => {
    const opened = Promise.withResolvers<void>();
    await start(async (server) => {
      server.send(settings());
      await server.requested(2);
      server.send(settings([4, 0]), ok(1), ok(3)); // both streams have used 16,000 bytes of it
      await opened.promise;
      server.send(settings([4, 16_000]));
      await server.requested(3);
      server.send(ok(5));
    });
    expect((await Promise.all([ask(large), ask(large)])).map(({ kind }) => kind)).to.deep.equal(["answer", "answer"]);
    expect(await ask(large)).to.include({ kind: "not_sent", reason: "the provider takes no request so large now" });
    expect(sentBytes(peer())).to.equal(2 * large.length);
    opened.resolve();
    await until(() => peer().received.filter(({ type, flags }) => type === types.settings && flags === 1).length === 3);
    expect((await ask(large)).kind).to.equal("answer");
    expect(pool().stats().opened).to.equal(1);
  });

  it("take part of an answer's window as padding: 500 bytes with all of it still fit", async () => {
    let window = 65_535;
    await start(async (server) => {
      server.send(settings());
      await server.requested();
      const [{ payload } = { payload: Buffer.alloc(0) }] = server.received;
      for (let at = 0; at < payload.length; at += 6)
        if (payload.readUInt16BE(at) === 4) window = payload.readUInt32BE(at + 2);
      server.send(ok(1));
    });
    await ask();
    expect(window).to.be.at.least(500 * 257);
  });

  it("are renewed for the connection, whatever the streams are, padding included", async () => {
    const frames = 40;
    const frame = raw(types.data, 8, 1, Buffer.concat([Buffer.of(255), Buffer.alloc(16_000)]));
    let room = 65_535;
    await start(async (server) => {
      server.send(settings());
      await server.requested(2);
      server.send(raw(types.headers, endHeaders, 1, status200));
      for (let nth = 0; nth < frames; nth++) {
        const granted = () =>
          server.received.flatMap(({ type, payload }) => (type === types.windowUpdate ? [payload.readUInt32BE()] : []));
        const left = () => room + granted().reduce((sum, bytes) => sum + bytes, 0);
        await until(() => left() >= 16_001);
        server.send(frame); // the third one is more than is read of an answer: the rest is of a stream that is over
        room -= 16_001;
      }
      server.send(ok(3));
    });
    const [cut, other] = await Promise.all([ask("1"), ask("2", 15_000)]);
    expect([cut.kind, other.kind]).to.deep.equal(["answer", "answer"]);
    expect((await peer().got(types.rstStream)).payload).to.deep.equal(u32(8));
  });

  it("leave a connection that stays without room, once nothing is under way", async () => {
    await start(
      async (server, nth) => {
        server.send(settings());
        await server.requested(nth === 1 ? 4 : 1);
        server.send(ok(1), ...(nth === 1 ? [ok(3), ok(5), ok(7)] : []));
      },
      { quietMs: 100, maxConnections: 1 },
    );
    await Promise.all(Array.from({ length: 4 }, () => ask(large)));
    expect((await ask(large)).kind).to.equal("answer");
    expect(pool().stats().opened).to.equal(2);
  });

  it("admit no stream where the peer admits none, and go on when it does (5.1.2)", async () => {
    const admitted = Promise.withResolvers<void>();
    const script = async (server: Peer) => {
      server.send(settings([3, 0]));
      await server.requested();
      server.send(ok(1));
      await admitted.promise;
      server.send(settings([3, 1]));
      for (let nth = 2; ; nth++) server.send(ok(await server.requested(nth)));
    };
    await start(script, { maxConnections: 1 });
    await ask("sent before the settings came");
    const waiting = [ask("1"), ask("2")];
    await until(() => pool().stats().waiting === 2);
    admitted.resolve();
    expect((await Promise.all(waiting)).map(({ kind }) => kind)).to.deep.equal(["answer", "answer"]);
    expect(peer().received.filter(({ type }) => type === types.data)).to.have.length(3);
  });
});
