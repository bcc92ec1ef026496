import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { freePorts } from "../../../../dev/processes/free-ports.ts";

/** A TCP link to the API server that can break in the ways that links do. */
export type Link = {
  /** A kubeconfig that goes through it. */
  kubeconfig: string;
  /** Resets every connection. */
  cut: () => void;
  /** From now on nothing passes over the connections that are open; new ones work. */
  freeze: () => void;
  /** Refuses new connections, too, until `open`. */
  shut: () => Promise<void>;
  open: () => Promise<void>;
  close: () => Promise<void>;
};

export const linkTo = async (kubeconfig: string): Promise<Link> => {
  const content = parse(readFileSync(kubeconfig, "utf8")) as { clusters: { cluster: { server: string } }[] };
  const target = new URL(content.clusters[0]?.cluster.server ?? "");
  const pairs = new Set<[Socket, Socket]>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    for (const socket of pair) {
      socket.on("error", () => {}); // a reset is what it is for
      socket.on("close", () => {
        for (const one of pair) one.destroy();
        pairs.delete(pair);
      });
    }
  });
  const [port = 0] = await freePorts(1); // none that an outgoing connection could take while it is shut
  const open = (): Promise<void> => new Promise((resolve) => void server.listen(port, "127.0.0.1", resolve));
  await open();
  const file = join(tmpdir(), `herald-link-${process.pid}-${port}.json`);
  for (const { cluster } of content.clusters) cluster.server = `https://127.0.0.1:${port}`;
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  const cut = (): void => {
    for (const [near, far] of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  };
  const shut = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      cut();
    });
  return {
    kubeconfig: file,
    cut,
    freeze: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.resume(); // read and forgotten: the other side sees a window that never closes
        far.resume();
      }
    },
    shut,
    open,
    close: shut,
  };
};
