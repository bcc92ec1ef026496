import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A request over HTTP/1.1; without a body it is a GET, with one a POST of JSON. */
export type Asked = { url: URL; headers: Readonly<Record<string, string>>; body: string | undefined };

/**
 * Connections that are kept, one for each server, and ask one request after another: `ask` gives the status when the last byte of
 * the reply is there. It does as little as that takes, since the CPU that it uses is missing to what is measured: a client of
 * `node:http` takes as much as a server does. Replies must say their length.
 */
export const keptConnection = () => {
  const kept = new Map<string, Asking>();
  const openTo = (url: URL): Asking => {
    const known = kept.get(url.host);
    const open = known === undefined || known.socket.destroyed ? asking(url) : known;
    kept.set(url.host, open);
    return open;
  };
  return {
    /** Connects to a server before anything is asked of it. */
    open: async (url: URL): Promise<void> => {
      const { socket } = openTo(url);
      if (socket.connecting) await once(socket, "connect");
    },
    ask: (asked: Asked): Promise<number> => openTo(asked.url).ask(textOf(asked)),
    close: (): void => {
      for (const { socket } of kept.values()) socket.destroy();
    },
  };
};

type Asking = { socket: Socket; ask: (text: string) => Promise<number> };

const longestMs = 30_000;

const asking = ({ hostname, port }: URL): Asking => {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true }).setEncoding("latin1");
  let waiting: PromiseWithResolvers<number> | undefined;
  let received = "";
  let head: Head | null = null;
  const end = (settle: (of: PromiseWithResolvers<number>) => void): void => {
    const ended = waiting;
    waiting = undefined;
    received = "";
    head = null;
    if (ended !== undefined) settle(ended);
  };
  socket.on("data", (some: string) => {
    received += some;
    const { status, bytes } = (head ??= headOf(received)) ?? unknown;
    if (received.length >= bytes) end(({ resolve }) => resolve(status));
  });
  socket.on("error", (error) => end(({ reject }) => reject(error)));
  socket.on("close", () => end(({ reject }) => reject(new Error("the connection was closed before the reply"))));
  socket.setTimeout(longestMs, () => socket.destroy(new Error(`no answer in ${longestMs} ms`)));
  return {
    socket,
    ask: (text) => {
      waiting = Promise.withResolvers();
      socket.write(text);
      return waiting.promise;
    },
  };
};

const textOf = ({ url, headers, body }: Asked): string => {
  const given = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n${given.join("")}`;
  if (body === undefined) return `GET ${head}\r\n`;
  return `POST ${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

/** What the head of a reply says: its status, and how long it is with its head. */
type Head = { status: number; bytes: number };

const unknown: Head = { status: 0, bytes: Number.POSITIVE_INFINITY };

/** Null as long as the head is not whole. One character is one byte. */
const headOf = (reply: string): Head | null => {
  const headEnd = reply.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const head = reply.slice(0, headEnd);
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
  const status = Number(head.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length));
  if (length === undefined && status !== 304) throw new Error(`a reply without its length: ${head.slice(0, 200)}`);
  return { status, bytes: headEnd + "\r\n\r\n".length + Number(length ?? 0) };
};
