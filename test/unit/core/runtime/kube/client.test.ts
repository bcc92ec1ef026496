import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { type KubeClient, kubeClient } from "#core/runtime/kube/client.ts";
import { until } from "../../../../support/until.ts";

describe("kubeClient", () => {
  let server: Server;
  let client: KubeClient;
  const bodies: { method: string; body: string }[] = [];
  const waiting: (() => void)[] = [];

  before(async () => {
    server = createServer(async (request, reply) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
      bodies.push({ method: request.method ?? "", body });
      if (request.url === "/slow") await new Promise<void>((resolve) => waiting.push(resolve));
      reply.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on TCP
    client = kubeClient({ connection: { server: new URL(`http://127.0.0.1:${port}`), authorize: async () => {} } });
  });
  after(() => {
    client.close();
    server.close();
  });

  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
    it(`sends the body of a ${method} so that the server reads it whole`, async () => {
      const body = { preconditions: { uid: "ü" } };
      await client.call({ method, path: "/x", body }, AbortSignal.timeout(2_000));
      expect(bodies.at(-1)).to.deep.equal({ method, body: JSON.stringify(body) });
    });
  }

  it("has an urgent call answered while every other connection is in use", async () => {
    const slow = Array.from({ length: 100 }, () =>
      client.call({ method: "GET", path: "/slow" }, AbortSignal.timeout(5_000)),
    );
    await until(() => waiting.length === 64);
    const urgent = { method: "PUT", path: "/lease", body: {}, isUrgent: true } as const;
    expect(await client.call(urgent, AbortSignal.timeout(1_000))).to.deep.equal({});
    expect(waiting.length).to.equal(64);
    const answering = setInterval(() => waiting.splice(0).forEach((go) => go()), 5);
    await Promise.all(slow);
    clearInterval(answering);
  });
});
