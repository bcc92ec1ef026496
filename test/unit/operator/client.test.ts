import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { type KubeClient, kubeClient } from "../../../operator/kube/client.ts";

describe("kubeClient", () => {
  let server: Server;
  let client: KubeClient;
  const bodies: { method: string; body: string }[] = [];

  before(async () => {
    server = createServer(async (request, reply) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
      bodies.push({ method: request.method ?? "", body });
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
});
