import { expect } from "chai";
import fc from "fast-check";
import { encodeHeaders, headerDecoder } from "../../../../../dispatcher/net/http2/hpack.ts";
import { huffmanDecode } from "../../../../../dispatcher/net/http2/hpack-huffman.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const bytesOf = (block: string): Buffer => Buffer.from(block, "latin1");
const decodeHeaders = (block: Buffer) => headerDecoder()(block);

/** Examples of RFC 7541 Appendix C.4 and C.6. */
const huffmanExamples: [string, string][] = [
  ["f1e3 c2e5 f23a 6ba0 ab90 f4ff", "www.example.com"],
  ["a8eb 1064 9cbf", "no-cache"],
  ["25a8 49e9 5ba9 7d7f", "custom-key"],
  ["25a8 49e9 5bb8 e8b4 bf", "custom-value"],
  ["6402", "302"],
  ["aec3 771a 4b", "private"],
  ["d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff", "Mon, 21 Oct 2013 20:13:21 GMT"],
  ["9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3", "https://www.example.com"],
];

describe("huffmanDecode", () => {
  for (const [coded, text] of huffmanExamples)
    it(`reads "${text}" as RFC 7541 writes it`, () => {
      expect(huffmanDecode(hex(coded))).to.equal(text);
    });

  it("refuses padding that is longer than seven bits or not all ones", () => {
    expect(huffmanDecode(hex("6402 ff"))).to.equal(null);
    expect(huffmanDecode(hex("6402 00"))).to.equal(null);
  });

  it("refuses the end-of-string symbol inside a string", () => {
    expect(huffmanDecode(hex("ffff ffff"))).to.equal(null);
  });
});

/** RFC 7541 C.5 and C.6: the same three responses over one connection, whose table holds 256 bytes. */
const responses = [
  {
    plain:
      "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e" +
      "1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
    huffman:
      "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b" +
      "97c8 e9ae 82ae 43d3",
    headers: { ":status": "302", date: "Mon, 21 Oct 2013 20:13:21 GMT" },
  },
  {
    plain: "4803 3330 37c1 c0bf",
    huffman: "4883 640e ffc1 c0bf",
    headers: { ":status": "307", date: "Mon, 21 Oct 2013 20:13:21 GMT" },
  },
  {
    plain:
      "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d" +
      "4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572" +
      "7369 6f6e 3d31",
    huffman:
      "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf" +
      "cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    headers: {
      ":status": "200",
      date: "Mon, 21 Oct 2013 20:13:22 GMT",
      "content-encoding": "gzip",
      "set-cookie": "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    },
  },
] as const;
const common = { "cache-control": "private", location: "https://www.example.com" };

describe("headerDecoder", () => {
  for (const form of ["plain", "huffman"] as const)
    it(`reads the responses of RFC 7541 ${form === "plain" ? "C.5" : "C.6"}, whose fields push one another out`, () => {
      const decode = headerDecoder(256);
      for (const response of responses)
        expect(decode(hex(response[form]))).to.deep.equal({ ...common, ...response.headers });
    });

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

  it("reads indexed fields and the literals of RFC 7541 C.2", () => {
    expect(decodeHeaders(hex("82"))).to.deep.equal({ ":method": "GET" });
    expect(decodeHeaders(hex("040c 2f73 616d 706c 652f 7061 7468"))).to.deep.equal({ ":path": "/sample/path" });
    expect(decodeHeaders(hex("1008 7061 7373 776f 7264 0673 6563 7265 74"))).to.deep.equal({ password: "secret" });
    const literal = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
    expect(decodeHeaders(hex(literal))).to.deep.equal({ "custom-key": "custom-header" });
  });

  it("marks what proves who we are as never to be indexed", () => {
    expect(bytesOf(encodeHeaders({ authorization: "x" }))[0]).to.equal(0x1f);
    expect(bytesOf(encodeHeaders({ "apns-id": "x" }))[0]).to.equal(0x00);
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
