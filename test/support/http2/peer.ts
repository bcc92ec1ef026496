import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { until } from "../until.ts";

/** A frame, written by hand: nothing here comes from the client that is being tested. Source: RFC 9113 4.1. */
export type RawFrame = { type: number; flags: number; streamId: number; payload: Buffer };

export const raw = (type: number, flags: number, streamId: number, payload: Buffer | string = ""): Buffer => {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(9);
  head.writeUIntBE(bytes.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, bytes]);
};

export const types = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const endStream = 1;
export const endHeaders = 4;
export const padded = 8;
export const hasPriority = 0x20;

export const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [n, value] of values.entries()) bytes.writeUInt32BE(value, 4 * n);
  return bytes;
};

export const settings = (...pairs: [id: number, value: number][]): Buffer =>
  raw(types.settings, 0, 0, Buffer.concat(pairs.map(([id, value]) => Buffer.concat([Buffer.of(0, id), u32(value)]))));

/** A field that refers to nothing: RFC 7541 6.2.2. Both texts are shorter than 127. */
export const field = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.of(0, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)]);

export const status200 = Buffer.of(0x88); // static table, number 8
export const informational = (status: number): Buffer => Buffer.concat([Buffer.of(0x08, 3), Buffer.from(`${status}`)]);
export const ok = (streamId: number): Buffer => raw(types.headers, endHeaders | endStream, streamId, status200);

/** One connection that the client made. */
export type Peer = {
  socket: Socket;
  /** Frames that the client has sent so far, its preface and acknowledgments included. */
  received: RawFrame[];
  send: (...bytes: (Buffer | string)[]) => void;
  /** The nth request's stream (from 1) once its end has come. */
  requested: (nth?: number) => Promise<number>;
  /** The first frame of this type, now or later. */
  got: (type: number, matches?: (frame: RawFrame) => boolean) => Promise<RawFrame>;
  isClosed: () => boolean;
};

export type PeerServer = { origin: string; peers: Peer[]; stop: () => Promise<void> };

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** A server of raw sockets that does what its script says, on each connection. */
export const startPeer = async (script: (peer: Peer) => Promise<void> | void): Promise<PeerServer> => {
  const peers: Peer[] = [];
  const server = createServer((socket) => {
    const peer = peerOn(socket);
    peers.push(peer);
    void Promise.resolve(script(peer)).catch(() => socket.destroy()); // the client may leave in the middle of it
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    peers,
    stop: async () => {
      for (const { socket } of peers) socket.destroy();
      await new Promise((done) => void server.close(done));
    },
  };
};

const peerOn = (socket: Socket): Peer => {
  const received: RawFrame[] = [];
  let rest = Buffer.alloc(0);
  let isClosed = false;
  socket
    .setNoDelay(true)
    .on("error", () => {})
    .on("close", () => {
      isClosed = true;
    })
    .on("data", (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      if (rest.toString("latin1", 0, preface.length) === preface) rest = rest.subarray(preface.length);
      for (let end = frameEnd(rest); end <= rest.length; end = frameEnd(rest)) {
        const payload = rest.subarray(9, end);
        received.push({ type: rest.readUInt8(3), flags: rest.readUInt8(4), streamId: rest.readUInt32BE(5), payload });
        rest = rest.subarray(end);
      }
    });
  const got: Peer["got"] = async (type, matches = () => true) => {
    const found = () => received.find((frame) => frame.type === type && matches(frame));
    await until(() => found() !== undefined || isClosed);
    const frame = found();
    if (frame === undefined) throw new Error(`the client left without a frame of type ${type}`);
    return frame;
  };
  return {
    socket,
    received,
    send: (...bytes) => void socket.write(Buffer.concat(bytes.map((part) => Buffer.from(part)))),
    requested: async (nth = 1) => {
      const streamId = 2 * nth - 1;
      await got(types.data, (frame) => frame.streamId === streamId && (frame.flags & endStream) !== 0);
      return streamId;
    },
    got,
    isClosed: () => isClosed,
  };
};

const frameEnd = (bytes: Buffer): number => (bytes.length < 9 ? Number.POSITIVE_INFINITY : 9 + bytes.readUIntBE(0, 3));
