import { huffmanDecode } from "./hpack-huffman.ts";

/** Names of the static table; number 1 comes first. Source: RFC 7541 Appendix A. */
const staticNames = [
  ":authority",
  ":method",
  ":method",
  ":path",
  ":path",
  ":scheme",
  ":scheme",
  ":status",
  ":status",
  ":status",
  ":status",
  ":status",
  ":status",
  ":status",
  "accept-charset",
  "accept-encoding",
  "accept-language",
  "accept-ranges",
  "accept",
  "access-control-allow-origin",
  "age",
  "allow",
  "authorization",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-range",
  "content-type",
  "cookie",
  "date",
  "etag",
  "expect",
  "expires",
  "from",
  "host",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "last-modified",
  "link",
  "location",
  "max-forwards",
  "proxy-authenticate",
  "proxy-authorization",
  "range",
  "referer",
  "refresh",
  "retry-after",
  "server",
  "set-cookie",
  "strict-transport-security",
  "transfer-encoding",
  "user-agent",
  "vary",
  "via",
  "www-authenticate",
];

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
 * Header lists as HPACK blocks (RFC 7541), without the dynamic table in either direction: what is sent refers to the
 * static table only, and SETTINGS_HEADER_TABLE_SIZE 0 asks the peer to do the same. So a block depends on nothing that
 * was sent before. Blocks are texts of one byte a character: several times faster to build than bytes.
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

/** RFC 7541 5.1. */
const encodedInteger = (value: number, prefixBits: number, first: number): string => {
  const most = (1 << prefixBits) - 1;
  if (value < most) return String.fromCharCode(first | value);
  let text = String.fromCharCode(first | most);
  let rest = value - most;
  for (; rest >= 128; rest >>= 7) text += String.fromCharCode((rest & 127) | 128);
  return text + String.fromCharCode(rest);
};

/** The headers of a block; null when it is no valid block, or refers to the dynamic table. Of a repeated name the last counts. */
export const decodeHeaders = (block: Buffer): Record<string, string> | null => {
  const headers: Record<string, string> = {};
  const reader = new BlockReader(block);
  while (!reader.isAtEnd) {
    const first = reader.peek();
    if ((first & 0xe0) === 0x20) {
      if (reader.integer(5) !== 0) return null; // the peer may only say that its table is empty
      continue;
    }
    const isIndexed = (first & 0x80) !== 0;
    const index = reader.integer(isIndexed ? 7 : (first & 0x40) === 0 ? 4 : 6);
    const name = index === 0 && !isIndexed ? reader.string() : (staticNames[index - 1] ?? null);
    const value = isIndexed ? (staticValues[index] ?? "") : reader.string();
    if (name === null || value === null || reader.isBroken) return null;
    headers[name] = value;
  }
  return reader.isBroken ? null : headers;
};

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
