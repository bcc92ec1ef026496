import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";

/** Listens on loopback. `stop` cuts every connection. */
export const listening = async (onConnection: (socket: Socket) => void) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  const isListening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", isListening.resolve);
  await isListening.promise;
  const address = server.address();
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    const isClosed = Promise.withResolvers<void>();
    server.close(() => isClosed.resolve());
    await isClosed.promise;
  };
  return { port: typeof address === "object" && address !== null ? address.port : 0, stop };
};

/** What a rude server does with a command: `drop` says something and closes, `silence` answers nothing from then on. */
export type Rudeness = { drop: string } | "silence" | null;

/**
 * A mail server that takes every mail without encryption, and pipelined commands, but for those that `rude` names. The
 * simulator (dev/simulators) keeps to the protocol; this one does not.
 */
export const rudeMailServer = async (rude: (command: string) => Rudeness) => {
  const { port, stop } = await listening((socket) => {
    const answer = politely();
    let isSilent = false;
    socket.write("220 rude.test\r\n");
    eachLine(socket, (line) => {
      if (isSilent || socket.writableEnded) return;
      const rudeness = rude(line);
      if (rudeness === "silence") isSilent = true;
      else if (rudeness === null) socket.write(answer(line));
      else socket.end(`${rudeness.drop}\r\n`);
    });
  });
  return { url: `smtp://127.0.0.1:${port}`, stop };
};

const eachLine = (socket: Socket, take: (line: string) => void): void => {
  let rest = "";
  socket.on("data", (data) => {
    const lines = (rest + data.toString("latin1")).split("\r\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
};

const politely = (): ((line: string) => string) => {
  let isMail = false;
  return (line) => {
    if (isMail && line !== ".") return "";
    isMail = line === "DATA";
    if (isMail) return "354 go on\r\n";
    return line.startsWith("EHLO") ? "250-rude.test\r\n250 PIPELINING\r\n" : "250 2.0.0 fine\r\n";
  };
};

/** Begins to send a mail without TLS or a login, and leaves in the middle of it. */
export const sendHalfAMail = async (port: number): Promise<void> => {
  const client = createConnection(port, "127.0.0.1");
  for (const command of ["", "EHLO a.test\r\n", "MAIL FROM:<a@b.test>\r\n", "RCPT TO:<c@d.test>\r\n", "DATA\r\n"]) {
    client.write(command);
    await once(client, "data");
  }
  client.write("Subject: half of it\r\n", () => client.destroy());
};
