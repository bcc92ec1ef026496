/** Frame types of HTTP/2 that this client reads or writes. Source: RFC 9113 6. */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Source: RFC 9113 7. */
export const errorCodes = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
} as const;
export type ErrorName = keyof typeof errorCodes;

/** The peer broke the protocol so that the connection has to end. Source: RFC 9113 5.4.1. */
export class ConnectionError extends Error {
  readonly code: ErrorName;

  constructor(code: ErrorName) {
    super(code);
    this.code = code;
  }
}

/** Settings of RFC 9113 6.5.2. */
export const settingIds = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
} as const;

export type Frame = { type: number; flags: number; streamId: number; payload: Buffer };

/** The length that every peer must take and that ours may not exceed. Source: RFC 9113 4.2. */
export const maxFrameLength = 16_384;
export const frameHeaderLength = 9;
/** Source: RFC 9113 6.9.1. */
export const maxWindow = 0x7fff_ffff;

const answerWindow = 16_777_216; // a stream's window is never renewed: it is more than any answer that is read, with its padding

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** What a client says first: a table for headers would save nothing, no pushes, and a window that no answer fills. */
export const clientPreface = (): Buffer => {
  const settings = Buffer.alloc(18);
  settings.writeUInt16BE(settingIds.headerTableSize, 0);
  settings.writeUInt16BE(settingIds.enablePush, 6);
  settings.writeUInt16BE(settingIds.initialWindowSize, 12);
  settings.writeUInt32BE(answerWindow, 14);
  return Buffer.concat([preface, frame(frameTypes.settings, 0, 0, settings)]);
};

/** One whole frame. */
export const frame = (type: number, flag: number, streamId: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(frameHeaderLength);
  writeFrameHeader(header, 0, { length: payload.length, type, flags: flag, streamId });
  return Buffer.concat([header, payload]);
};

export type FrameHeader = { length: number; type: number; flags: number; streamId: number };

/** Writes the nine bytes before a payload; returns where the payload begins. */
export const writeFrameHeader = (out: Buffer, at: number, { length, type, flags, streamId }: FrameHeader): number => {
  out.writeUIntBE(length, at, 3);
  out[at + 3] = type;
  out[at + 4] = flags;
  out.writeUInt32BE(streamId, at + 5);
  return at + frameHeaderLength;
};

/** A payload of one number: RST_STREAM's code, WINDOW_UPDATE's increment. */
export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** Cuts what arrives into frames, wherever the network cut it. Throws `ConnectionError` for a frame that is too long. */
export const frameReader = (take: (frame: Frame) => void): ((chunk: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= frameHeaderLength) {
      const length = bytes.readUIntBE(at, 3);
      if (length > maxFrameLength) throw new ConnectionError("FRAME_SIZE_ERROR");
      const end = at + frameHeaderLength + length;
      if (end > bytes.length) break;
      take({
        type: bytes[at + 3] ?? 0,
        flags: bytes[at + 4] ?? 0,
        streamId: bytes.readUInt32BE(at + 5) & 0x7fffffff,
        payload: bytes.subarray(at + frameHeaderLength, end),
      });
      at = end;
    }
    rest = bytes.subarray(at);
  };
};

/** The payload without padding and priority. Source: RFC 9113 6.1, 6.2. Throws `ConnectionError` when they do not fit. */
export const contentOf = ({ type, flags: set, payload }: Frame): Buffer => {
  const isPadded = (set & flags.padded) !== 0;
  const hasPriority = type === frameTypes.headers && (set & flags.priority) !== 0;
  const start = (isPadded ? 1 : 0) + (hasPriority ? 5 : 0);
  if (start > payload.length) throw new ConnectionError("FRAME_SIZE_ERROR");
  const end = payload.length - (isPadded ? (payload[0] ?? 0) : 0);
  if (start > end) throw new ConnectionError("PROTOCOL_ERROR");
  return payload.subarray(start, end);
};
