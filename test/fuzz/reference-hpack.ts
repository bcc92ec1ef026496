import { huffmanDecode } from "../../dispatcher/net/http2/hpack-huffman.ts";

export type Fields = [name: string, value: string][];
type Block = { bytes: Buffer; at: number };

const noNumber = 2 ** 28; // of five bytes: more is refused

/**
 * A second reading of RFC 7541, written for being compared: no table but a list, each rule where the document has it.
 * Throws what is wrong with a block. `steps` tells what was met.
 */
export const referenceDecoder = (staticTable: Fields, mostBytes: number, steps: string[]) => {
  const dynamic: Fields = [];
  let limit = mostBytes;

  const evict = (most: number): void => {
    const size = () => dynamic.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0); // 4.1
    while (dynamic.length > 0 && size() > most) {
      dynamic.pop();
      steps.push("evicted");
    }
  };
  const fieldAt = (index: number): [string, string] => {
    const field = index <= staticTable.length ? staticTable[index - 1] : dynamic[index - staticTable.length - 1]; // 2.3.3
    if (field === undefined) throw new Error(index === 0 ? "index 0" : "no such index");
    steps.push(index <= staticTable.length ? "static" : "dynamic");
    return field;
  };
  const field = (block: Block): [string, string] => {
    const first = block.bytes[block.at] ?? 0;
    if (first >= 0x80) return fieldAt(integer(block, 7)); // 6.1
    if (first >= 0x20 && first < 0x40) throw new Error("size after a field"); // 4.2
    const isAdded = first >= 0x40;
    const index = integer(block, isAdded ? 6 : 4);
    const name = index === 0 ? string(block, steps) : fieldAt(index)[0];
    const value = string(block, steps);
    steps.push(isAdded ? "added" : first >= 0x10 ? "never added" : "not added");
    if (!isAdded) return [name, value]; // 6.2.2, 6.2.3
    evict(limit - (name.length + value.length + 32)); // 4.4
    if (name.length + value.length + 32 <= limit) dynamic.unshift([name, value]);
    else steps.push("too large for the table");
    return [name, value];
  };
  return (bytes: Buffer): Fields => {
    const block = { bytes, at: 0 };
    const fields: Fields = [];
    while (block.at < bytes.length && ((bytes[block.at] ?? 0) & 0xe0) === 0x20) {
      limit = integer(block, 5); // 6.3
      steps.push("size");
      if (limit > mostBytes) throw new Error("size above the limit");
      evict(limit);
    }
    while (block.at < bytes.length) fields.push(field(block));
    return fields;
  };
};

/** 5.1 */
const integer = (block: Block, prefix: number): number => {
  const next = (): number => {
    const byte = block.bytes[block.at++];
    if (byte === undefined) throw new Error("the block ends");
    return byte;
  };
  const most = 2 ** prefix - 1;
  let value = next() & most;
  if (value < most) return value;
  for (let power = 1; power < noNumber; power *= 128) {
    const byte = next();
    value += (byte & 127) * power;
    if (byte < 128) return value;
  }
  throw new Error("a number without end");
};

/** 5.2 */
const string = (block: Block, steps: string[]): string => {
  const isHuffman = (block.bytes[block.at] ?? 0) >= 0x80;
  const length = integer(block, 7);
  const bytes = block.bytes.subarray(block.at, block.at + length);
  block.at += length;
  if (bytes.length < length) throw new Error("the block ends");
  const text = isHuffman ? huffmanDecode(bytes) : bytes.toString("latin1");
  if (text === null) throw new Error("not Huffman's code");
  steps.push(isHuffman ? "huffman" : "plain");
  return text;
};
