import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { freePorts } from "../../../../dev/processes/free-ports.ts";
import type { Server } from "../../../../dev/processes/process.ts";
import { startNats } from "../../../../dev/servers/nats.ts";

describe("a NATS that asks for a login", () => {
  let dir: string;
  let server: Server;
  let port: number;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nats-login-"));
    const [first = 0, monitorPort = 0] = await freePorts(2);
    port = first;
    server = await startNats({ dir, port, monitorPort, login: { user: "herald", password: "p@ss:1" } });
  });
  after(async () => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it("lets in who has it in the address, percent-encoded", async () => {
    const nats = await connectNats({ url: `nats://herald:p%40ss%3A1@127.0.0.1:${port}`, name: "login" });
    await nats.ping();
    expect(nats.isConnected()).to.equal(true);
    await nats.close();
  });
});
