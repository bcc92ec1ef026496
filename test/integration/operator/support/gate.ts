import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { eventBatchCollection } from "#core/storage/events/batches.ts";

const writes = ["insert", "update", "delete"] as const;
type Write = (typeof writes)[number];

/** A link to MongoDB on which writes can be blocked on their way, as a network does. */
export type Gate = {
  url: string;
  /** From now on a connection that sends a write of records stands still with it. */
  block: () => void;
  /** What is being blocked. */
  blocked: () => Write[];
  /** Lets everything go on; resolves when MongoDB has answered what was blocked. */
  release: () => Promise<void>;
  close: () => void;
};

export const gateTo = async (url: string): Promise<Gate> => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const blocked = new Map<Socket, { write: Write; chunk: Buffer }>();
  let isClosed = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    near.on("data", (chunk: Buffer) => {
      const write = isClosed ? writeIn(chunk) : undefined;
      if (write === undefined) return void far.write(chunk);
      blocked.set(far, { write, chunk });
      near.pause();
      far.once("data", () => near.resume());
    });
    far.pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}); // the other side was killed
    }
    far.on("close", () => near.destroy());
    near.on("close", () => {
      if (!blocked.has(far)) far.end(); // what is on its way arrives, whatever became of its sender
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.port = String((server.address() as { port: number }).port); // it listens on TCP
  return {
    url: own.href,
    block: () => {
      isClosed = true;
    },
    blocked: () => [...blocked.values()].map(({ write }) => write),
    release: async () => {
      isClosed = false;
      const answers = [...blocked].map(async ([far, { chunk }]) => {
        far.resume(); // its pipe has stopped it when the sender is dead
        far.write(chunk);
        await once(far, "data");
      });
      await Promise.all(answers);
      blocked.clear();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

/**
 * A command's name is the first member of its BSON document: a string (type 2), its name ended by 0, with the collection.
 * What an event will say is written first, and let through: the change itself is what stands still.
 */
const writeIn = (chunk: Buffer): Write | undefined =>
  writes.find(
    (name) => chunk.includes(`\u0002${name}\u0000`) && !chunk.includes(`\u0000${eventBatchCollection.name}\u0000`),
  );
