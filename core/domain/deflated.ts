import { deflateRawSync, inflateRawSync } from "node:zlib";

/**
 * Bytes as a raw DEFLATE stream. What is short is put into a block that is not compressed, as that takes a thirtieth of the
 * time and saves nearly nothing. Source: RFC 1951 3.2.4.
 */
export const deflated = (bytes: Buffer): Buffer => {
  if (bytes.length > mostStored) return deflateRawSync(bytes, { level: 1 });
  const block = Buffer.allocUnsafe(headBytes + bytes.length);
  block.writeUInt8(lastStored, 0);
  block.writeUInt16LE(bytes.length, 1);
  block.writeUInt16LE(bytes.length ^ 0xffff, 3);
  bytes.copy(block, headBytes);
  return block;
};

/** Reads what {@link deflated} has written, or any raw DEFLATE stream. @throws Error beyond `mostBytes` */
export const inflated = (stream: Buffer, mostBytes: number): Buffer => {
  const isOneBlock =
    stream.length >= headBytes &&
    stream.readUInt8(0) === lastStored &&
    stream.readUInt16LE(1) === stream.length - headBytes &&
    stream.readUInt16LE(3) === ((stream.length - headBytes) ^ 0xffff);
  return isOneBlock && stream.length - headBytes <= mostBytes
    ? stream.subarray(headBytes)
    : inflateRawSync(stream, { maxOutputLength: mostBytes });
};

const mostStored = 512;
const headBytes = 5;
const lastStored = 1; // the only block, not compressed
