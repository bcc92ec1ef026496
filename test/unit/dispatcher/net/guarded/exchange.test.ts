import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { type Connection, connectionOver } from "../../../../../dispatcher/net/guarded/connection.ts";
import { type Exchanged, exchange } from "../../../../../dispatcher/net/guarded/exchange.ts";
import { outgoing } from "../../../../support/servers/outgoing.ts";

const never = new AbortController().signal;

const exchangeOver = (connection: Connection, url: URL, signal = never): Promise<Exchanged> => {
  const limits = { timeoutMs: 1_000, connectTimeoutMs: 1_000, maxReplyBytes: 100 };
  const pool = { poolKey: "whk_1", maxConnections: 1, mayRepeat: false };
  return exchange(connection, { url, method: "POST", headers: {}, body: "hello", ...limits, ...pool }, signal);
};

describe("an exchange over a connection", () => {
  const { http } = outgoing();

  const open = async (port: number): Promise<{ connection: Connection; url: URL }> => {
    const url = new URL(`http://127.0.0.1:${port}/`);
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    await once(socket, "connect");
    return { connection: connectionOver(socket, url), url };
  };

  it("tells that nothing was written when the connection has closed before", async () => {
    let requests = 0;
    const port = await http((_, response) => {
      requests++;
      response.end();
    });
    const { connection, url } = await open(port);
    expect((await exchangeOver(connection, url)).reply.kind).to.equal("answered");
    connection.socket.destroy();
    const { reply, reached } = await exchangeOver(connection, url);
    expect(reply).to.include({ kind: "broken", errorClass: "reset" });
    expect([reached, requests]).to.deep.equal(["nothing", 1]);
  });

  it("tells that nothing was written when the connection closes in the turn of the request", async () => {
    const port = await http((_, response) => response.end());
    const { connection, url } = await open(port);
    await exchangeOver(connection, url);
    const exchanged = exchangeOver(connection, url);
    connection.socket.destroy();
    const { reply, reached } = await exchanged;
    expect(reply).to.include({ kind: "broken", errorClass: "reset" });
    expect(reached).to.equal("nothing");
  });

  it("tells that the request was written when it is given up then", async () => {
    const stop = new AbortController();
    const port = await http(() => stop.abort());
    const { connection, url } = await open(port);
    const { reply, reached } = await exchangeOver(connection, url, stop.signal);
    expect(reply).to.include({ kind: "broken", errorClass: "timeout" });
    expect(reached).to.equal("request");
    expect(connection.socket.destroyed).to.equal(true);
  });
});
