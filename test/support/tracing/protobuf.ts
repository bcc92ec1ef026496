/** The fields of a message in protobuf's wire format, in their order. Source: protobuf.dev, "Encoding". */
export type Field = { number: number; value: bigint | Buffer };

/** Reads a message; groups, which OTLP does not have, are refused. */
export const readFields = (bytes: Buffer): Field[] => {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const taken = (size: number): Buffer => {
    at += size;
    return bytes.subarray(at - size, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    fields.push({ number: key >>> 3, value: valueOf(key & 7, varint, taken) });
  }
  return fields;
};

const valueOf = (type: number, varint: () => bigint, taken: (size: number) => Buffer): bigint | Buffer => {
  if (type === 0) return varint();
  if (type === 1) return taken(8).readBigUInt64LE();
  if (type === 2) return taken(Number(varint()));
  if (type === 5) return BigInt(taken(4).readUInt32LE());
  throw new Error(`no wire type of OTLP: ${type}`);
};
