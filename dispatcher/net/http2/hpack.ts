import { huffmanDecode } from "./hpack-huffman.ts";

/** Names of the static table; number 1 comes first. Source: RFC 7541 Appendix A. */
const staticNames = [
  ":authority :method :method :path :path :scheme :scheme :status :status :status :status :status :status :status",
  "accept-charset accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow",
  "authorization cache-control content-disposition content-encoding content-language content-length",
  "content-location content-range content-type cookie date etag expect expires from host if-match if-modified-since",
  "if-none-match if-range if-unmodified-since last-modified link location max-forwards proxy-authenticate",
  "proxy-authorization range referer refresh retry-after server set-cookie strict-transport-security",
  "transfer-encoding user-agent vary via www-authenticate",
].flatMap((names) => names.split(" "));

/** Values of the static table, where it has any. */
const staticValues: Readonly<Record<number, string>> = {
  2: "GET",
  3: "POST",
  4: "/",
  5: "/index.html",
  6: "http",
  7: "https",
  8: "200",
  9: "204",
  10: "206",
  11: "304",
  12: "400",
  13: "404",
  14: "500",
  16: "gzip, deflate",
};

/**
 * Header lists as HPACK blocks (RFC 7541) that refer to the static table only: a block depends on nothing that was sent
 * before. Blocks are texts of one byte a character: several times faster to build than bytes.
 */
export const encodeHeaders = (headers: Readonly<Record<string, string>>): string => {
  let block = "";
  for (const name in headers) block += encodedName(name) + encodedString(headers[name] ?? "");
  return block;
};

const encodedNames = new Map<string, string>(); // as many as this program has names of headers

/** "Literal header field without indexing"; what proves who we are is marked as never to be indexed. */
const encodedName = (name: string): string => {
  const known = encodedNames.get(name);
  if (known !== undefined) return known;
  const kind = name === "authorization" ? 0x10 : 0;
  const index = staticNames.indexOf(name) + 1;
  const encoded = index > 0 ? encodedInteger(index, 4, kind) : encodedInteger(0, 4, kind) + encodedString(name);
  encodedNames.set(name, encoded);
  return encoded;
};

const encodedString = (text: string): string => encodedInteger(text.length, 7, 0) + text;

/** An integer after the bits of `first`, as one character a byte. Source: RFC 7541 5.1. */
export const encodedInteger = (value: number, prefixBits: number, first: number): string => {
  const most = (1 << prefixBits) - 1;
  if (value < most) return String.fromCharCode(first | value);
  let text = String.fromCharCode(first | most);
  let rest = value - most;
  for (; rest >= 128; rest >>= 7) text += String.fromCharCode((rest & 127) | 128);
  return text + String.fromCharCode(rest);
};

/** The headers of a block, 200 fields at most; null when it is no valid one. Of a repeated name the last counts. */
export type DecodeHeaders = (block: Buffer) => Record<string, string> | null;

/**
 * Reads the blocks of one connection, every one of them and in the order in which they came: each may add to the dynamic
 * table, and refer to it. The table is as large as a peer may take it to be that has not heard of our settings, or
 * ignores them.
 */
export const headerDecoder = (mostTableBytes = standardTableBytes): DecodeHeaders => {
  const table = new DynamicTable(mostTableBytes);
  return (block) => {
    const headers: Record<string, string> = {};
    const reader = new BlockReader(block);
    while (isSizeUpdate(reader)) if (!table.resize(reader.integer(5))) return null;
    for (let read = 0; !reader.isAtEnd; read++) {
      const field = readField(reader, table);
      if (field === null || reader.isBroken) return null;
      if (read < maxFields) headers[field.name] = field.value;
    }
    return reader.isBroken ? null : headers;
  };
};

/** RFC 7541 6.3; only a block's begin may have them. */
const isSizeUpdate = (reader: BlockReader): boolean => !reader.isAtEnd && (reader.peek() & 0xe0) === 0x20;

const maxFields = 200; // more are read and forgotten: a block of 64 KB can have 20,000 names

/** Of each table until the peer who reads it says otherwise. Source: RFC 9113 6.5.2. */
export const standardTableBytes = 4096;

type Field = { name: string; value: string };

/** RFC 7541 6.1 and 6.2. */
const readField = (reader: BlockReader, table: DynamicTable): Field | null => {
  const first = reader.peek();
  if ((first & 0xe0) === 0x20) return null; // a size update after a field
  if ((first & 0x80) !== 0) return fieldAt(reader.integer(7), table);
  const isAdded = (first & 0x40) !== 0;
  const index = reader.integer(isAdded ? 6 : 4);
  const name = index === 0 ? reader.string() : (fieldAt(index, table)?.name ?? null);
  const value = reader.string();
  if (name === null || value === null || reader.isBroken) return null;
  const field = { name, value };
  if (isAdded) table.add(field);
  return field;
};

const fieldAt = (index: number, table: DynamicTable): Field | null => {
  if (index === 0) return null;
  const name = staticNames[index - 1];
  return name === undefined ? table.at(index - staticNames.length - 1) : { name, value: staticValues[index] ?? "" };
};

/** RFC 7541 4: the newest field comes first, the oldest make room. */
class DynamicTable {
  readonly #mostBytes: number;
  readonly #fields: Field[] = []; // the newest last
  #bytes = 0;
  #limitBytes: number;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#limitBytes = mostBytes;
  }

  at(position: number): Field | null {
    return this.#fields.at(-1 - position) ?? null;
  }

  add(field: Field): void {
    this.#makeRoom(this.#limitBytes - sizeOf(field));
    if (sizeOf(field) > this.#limitBytes) return; // it empties the table, and is no error
    this.#fields.push(field);
    this.#bytes += sizeOf(field);
  }

  /** False when it is larger than it may be. */
  resize(bytes: number): boolean {
    this.#limitBytes = bytes;
    this.#makeRoom(bytes);
    return bytes <= this.#mostBytes;
  }

  #makeRoom(leftBytes: number): void {
    while (this.#bytes > leftBytes) {
      const oldest = this.#fields.shift();
      if (oldest === undefined) return;
      this.#bytes -= sizeOf(oldest);
    }
  }
}

/** RFC 7541 4.1; a character is a byte. */
const sizeOf = ({ name, value }: Field): number => name.length + value.length + 32;

class BlockReader {
  readonly #block: Buffer;
  #at = 0;
  isBroken = false;

  constructor(block: Buffer) {
    this.#block = block;
  }

  get isAtEnd(): boolean {
    return this.isBroken || this.#at >= this.#block.length;
  }

  peek(): number {
    return this.#block[this.#at] ?? 0;
  }

  integer(prefixBits: number): number {
    const most = (1 << prefixBits) - 1;
    let value = (this.#block[this.#at++] ?? 0) & most;
    if (value < most) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#block[this.#at++] ?? 128;
      value += (byte & 127) << shift;
      if (byte < 128) return value;
    }
    this.isBroken = true; // longer than any header may be
    return 0;
  }

  string(): string | null {
    const isHuffman = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const start = this.#at;
    this.#at += length;
    if (this.#at <= this.#block.length)
      return isHuffman
        ? huffmanDecode(this.#block.subarray(start, this.#at))
        : this.#block.toString("latin1", start, this.#at);
    this.isBroken = true;
    return null;
  }
}
