import { expect } from "chai";
import { privateServers } from "../../support/servers/servers.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { type System, type SystemProgram, startSystem } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { type Installation, installation } from "../operator/support/harness.ts";

const startServers = () => privateServers({ mongodb: true, nats: true, redis: true });

describe("a program that is started before its stores", () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let cluster: Installation;
  let system: System;

  before(async () => {
    [servers, cluster] = await Promise.all([startServers(), installation()]);
    system = await startSystem({
      mongodbUrl: servers.mongodb.url,
      natsUrl: servers.nats.url,
      redisUrl: servers.redis.url,
      apns: { url: "https://127.0.0.1:9", credentials: testCredentials() },
      env: {
        KUBECONFIG: cluster.servers.kubeconfig,
        HERALD_OPERATOR_LEASE: cluster.settings.leaseName,
        HERALD_OPERATOR_SELECTOR: cluster.settings.labelSelector,
      },
    });
  });
  after(async () => {
    await system?.stop();
    await cluster?.close();
    await servers?.close();
  });

  const says = (program: SystemProgram, event: string): Promise<void> =>
    until(async () => (await program.log()).some((line) => line["event"] === event));
  const readiness = async ({ healthUrl }: SystemProgram): Promise<[status: number, checks: Record<string, string>]> => {
    const reply = await fetch(`${healthUrl}/readyz`);
    return [reply.status, ((await reply.json()) as { checks: Record<string, string> }).checks];
  };

  it("waits, lives, is not ready, says what it waits for, and goes on when they are there", async () => {
    await servers.mongodb.stop();
    await servers.nats.stop();
    const kinds = ["operator", "apiserver", "dispatcher"] as const;
    const programs = await Promise.all(kinds.map((kind) => system.start(kind, {}, "/healthz")));
    const [operator, apiserver, dispatcher] = programs as [SystemProgram, SystemProgram, SystemProgram];
    await Promise.all([
      says(apiserver, "mongodb.awaited"),
      ...[operator, dispatcher].map((one) => says(one, "nats.awaited")),
    ]);
    await servers.nats.start();
    await Promise.all([operator, dispatcher].map((one) => says(one, "mongodb.awaited")));
    for (const program of programs) {
      const [status, checks] = await readiness(program);
      expect(status).to.equal(503);
      expect(checks).to.include({ started: "failed" });
      expect(checks["mongodb"]).not.to.equal("ok");
    }
    await servers.mongodb.start();
    for (const program of programs) {
      await says(program, "program.started");
      await until(async () => (await readiness(program))[0] === 200);
    }
    await Promise.all(programs.map((program) => program.stop()));
  });

  it("also waits for a name that is not known yet, and ends in good order after SIGTERM", async () => {
    const apiserver = await system.start(
      "apiserver",
      { HERALD_MONGODB_URL: "mongodb://mongodb.invalid:27017/" },
      "/healthz",
    );
    await says(apiserver, "mongodb.awaited");
    expect(JSON.stringify(await apiserver.log())).to.include("mongodb.invalid");
    await apiserver.stop();
    expect((await apiserver.log()).at(-1)).to.include({ event: "program.stopped", code: 0 });
  });
});
