import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { clusterNetworkSocket } from "../../../../dev/servers/kubernetes.ts";

/**
 * The network that the API server's proxies of Services and pods lead into: whatever address it asks for is the server at `url`.
 * Its own part of a test's cluster, as there are no nodes.
 */
export const clusterNetwork = async (kubeconfig: string, url: string): Promise<{ close: () => Promise<void> }> => {
  const path = clusterNetworkSocket(kubeconfig);
  await rm(path, { force: true }); // of a test that was killed
  const clients = new Set<Duplex>(); // the server forgets those that it hands on
  const server = createServer().on("connect", (_, client, head) => {
    clients.add(client);
    client.on("close", () => clients.delete(client));
    const to = connect(Number(new URL(url).port), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      to.write(head);
      to.pipe(client).pipe(to);
    });
    for (const end of [client, to]) end.on("error", () => [client, to].forEach((one) => one.destroy()));
  });
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(path, resolve));
  return {
    close: async () => {
      server.closeAllConnections();
      server.close();
      for (const client of clients) client.destroy();
      await rm(path, { force: true });
    },
  };
};
