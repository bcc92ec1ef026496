import { expect } from "chai";
import fc from "fast-check";
import { encodeHeaders, headerDecoder } from "../../../../../dispatcher/net/http2/hpack.ts";
import { huffmanDecode } from "../../../../../dispatcher/net/http2/hpack-huffman.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const bytesOf = (block: string): Buffer => Buffer.from(block, "latin1");
const decodeHeaders = (block: Buffer) => headerDecoder()(block);

describe("huffmanDecode", () => {
  it("refuses padding that is longer than seven bits or not all ones", () => {
    expect(huffmanDecode(hex("6402 ff"))).to.equal(null);
    expect(huffmanDecode(hex("6402 00"))).to.equal(null);
  });

  it("refuses the end-of-string symbol inside a string", () => {
    expect(huffmanDecode(hex("ffff ffff"))).to.equal(null);
  });
});

describe("headerDecoder", () => {
  const added = (name: string, value: string): Buffer =>
    Buffer.concat([Buffer.of(0x40, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)]);

  it("keeps what was added until newer fields need its room, and refuses what is not there", () => {
    const decode = headerDecoder(80); // two fields of 32 and some bytes
    decode(added("a", "1"));
    decode(added("b", "2"));
    expect(decode(hex("be bf"))).to.deep.equal({ b: "2", a: "1" });
    decode(added("c", "3"));
    expect(decode(hex("be bf"))).to.deep.equal({ c: "3", b: "2" });
    expect(decode(hex("c0"))).to.equal(null);
  });

  it("is emptied by a field that is larger than the table, which is no error", () => {
    const decode = headerDecoder(80);
    decode(added("a", "1"));
    expect(decode(added("b", "2".repeat(60)))).to.deep.equal({ b: "2".repeat(60) });
    expect(decode(hex("be"))).to.equal(null);
  });

  it("follows the size that the peer chooses, up to what it may be", () => {
    const decode = headerDecoder(4096);
    decode(added("a", "1"));
    expect(decode(hex("20 88"))).to.deep.equal({ ":status": "200" }); // 0: empty
    expect(decode(hex("be"))).to.equal(null);
    expect(decode(Buffer.concat([hex("3f e1 1f"), added("b", "2"), hex("be")]))).to.deep.equal({ b: "2" }); // 4,096
    expect(decode(hex("3f e2 1f 88"))).to.equal(null); // 4,097
  });

  it("refuses index 0, also when the table is full", () => {
    const decode = headerDecoder();
    for (let n = 0; n < 100; n++) decode(added("a", `${n}`));
    expect(decode(hex("80"))).to.equal(null);
  });

  it("refuses a size of the table that comes after a field", () => {
    expect(headerDecoder()(hex("20 3f e1 1f 88"))).to.deep.equal({ ":status": "200" });
    expect(headerDecoder()(hex("88 20"))).to.equal(null);
  });

  it("keeps 200 fields of a block, and reads all", () => {
    const decode = headerDecoder();
    const many = Array.from({ length: 5_000 }, (_, n) => added(`n${n}`, ""));
    expect(Object.keys(decode(Buffer.concat(many)) ?? {})).to.have.length(200);
    expect(decode(hex("be"))).to.deep.equal({ n4999: "" });
  });

  it("takes no memory for a field that is named again and again", () => {
    const decode = headerDecoder();
    decode(Buffer.concat([hex("40 01 61 7f a1 1e"), Buffer.alloc(4_000, "x")])); // RFC 7541 7.3: 4 KB for each byte
    const before = process.memoryUsage();
    const headers = decode(Buffer.alloc(65_536, 0xbe));
    const after = process.memoryUsage();
    expect(headers?.a).to.have.length(4_000);
    expect(after.heapUsed + after.external - before.heapUsed - before.external).to.be.below(16 * 1024 * 1024);
  });

  it("takes a name from the table for another value", () => {
    const decode = headerDecoder();
    decode(added("apns-id", "1"));
    expect(decode(hex("0f 2f 01 32"))).to.deep.equal({ "apns-id": "2" }); // 62, without indexing
  });
});

describe("encodeHeaders and headerDecoder", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,40}$/);
  const value = fc.stringMatching(/^[\x20-\x7e]{0,400}$/);

  it("give back every list of headers", () => {
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 20, noNullPrototype: true }), (headers) => {
        expect(decodeHeaders(bytesOf(encodeHeaders(headers)))).to.deep.equal(headers);
      }),
    );
  });

  it("refuses index 0 and blocks that end too early, whatever the bytes", () => {
    expect(decodeHeaders(hex("80"))).to.equal(null);
    expect(decodeHeaders(hex("00 05 61"))).to.equal(null);
    expect(decodeHeaders(hex("0f ff ff ff ff ff ff"))).to.equal(null);
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (blocks) => {
        const decode = headerDecoder(100);
        for (const bytes of blocks) decode(Buffer.from(bytes)); // gives headers or null, and always ends
      }),
    );
  });
});
