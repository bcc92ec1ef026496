import {
  endHeaders,
  endStream,
  field,
  hasPriority,
  ok,
  padded,
  raw,
  settings,
  status200,
  types,
  u32,
} from "../support/http2/peer.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

/** The first byte says into how large pieces the target cuts the rest. Of RFC 7541 Appendix C, three blocks of equal length are none. */
export const headerSeeds: readonly Buffer[] = [
  hex("00 88"),
  hex("00 400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572 be"),
  hex("04 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff be"),
  hex("00 20 3f e1 1f 88 0f 0d 01 31 1f 08 01 78"),
  hex("01 4001 6101 31 be 4001 6201 32 be"),
  hex("0c 4001 6101 31 88"),
];

export const frameSeeds: readonly Buffer[] = [
  ok(1),
  Buffer.concat([
    raw(types.headers, endHeaders, 1, Buffer.concat([status200, field("apns-id", "1")])),
    raw(types.data, padded, 1, Buffer.from([1, 120, 0])),
    raw(types.data, endStream, 1, "y"),
  ]),
  Buffer.concat([
    raw(types.headers, endStream | padded | hasPriority, 3, Buffer.from([1, 0, 0, 0, 0, 1, 0])),
    raw(types.continuation, 0, 3, status200),
    raw(types.continuation, endHeaders, 3),
  ]),
  Buffer.concat([settings([1, 0], [3, 10], [4, 1], [5, 16_384], [6, 1]), raw(types.settings, 1, 0)]),
  Buffer.concat([raw(types.ping, 0, 0, u32(1, 2)), raw(types.ping, 1, 0, u32(1, 2))]),
  Buffer.concat([raw(types.windowUpdate, 0, 0, u32(1)), raw(types.windowUpdate, 0, 1, u32(1))]),
  Buffer.concat([
    raw(types.rstStream, 0, 5, u32(8)),
    raw(types.goaway, 0, 0, Buffer.concat([u32(5, 0), Buffer.from("why")])),
  ]),
  Buffer.concat([raw(types.priority, 0, 7, "12345"), raw(0x0a, 0, 0, "unknown"), raw(types.pushPromise, 4, 1, u32(2))]),
];
