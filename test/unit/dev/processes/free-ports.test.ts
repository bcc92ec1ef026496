import { once } from "node:events";
import { createServer } from "node:net";
import { expect } from "chai";
import { freePorts, portsVariable } from "../../../../dev/processes/free-ports.ts";

describe("free ports", () => {
  it("are given once, also to those who ask at the same time", async () => {
    const given = await Promise.all(Array.from({ length: 100 }, () => freePorts(10)));
    expect(new Set(given.flat()).size).to.equal(1_000);
  });

  it("are such that fetch asks there, the lowest of them too", async () => {
    const before = process.env[portsVariable];
    process.env[portsVariable] = "0/200";
    // of some 80, of which this process may have been given a third by then
    const lowest = await freePorts(30).finally(() => {
      if (before === undefined) delete process.env[portsVariable];
      else process.env[portsVariable] = before;
    });
    const asked = await Promise.all(lowest.map((port) => fetch(`http://127.0.0.1:${port}`).catch((err) => err.cause)));
    expect(asked.map(({ code, message }) => code ?? message)).to.deep.equal(lowest.map(() => "ECONNREFUSED"));
  });

  it("are such that a server can listen there", async () => {
    const [port = 0] = await freePorts(1);
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    server.close();
    await once(server, "close");
  });
});
