import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Lets others reach a server on loopback at another address of this machine, on the same port. Answers how to end it. */
export const forward = async (host: string, port: number): Promise<() => Promise<void>> => {
  const open = new Set<Socket>();
  const server = createServer((outside) => {
    const inside = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      open.add(from);
      from.setNoDelay(true);
      from
        .on("error", () => to.destroy())
        .on("close", () => {
          open.delete(from);
          to.destroy();
        });
      from.pipe(to);
    }
  });
  server.listen(port, host);
  await once(server, "listening");
  return async () => {
    server.close();
    for (const socket of open) socket.destroy();
    await once(server, "close");
  };
};
