import { expect } from "chai";
import fc from "fast-check";
import { decodeHeaders, encodeHeaders } from "../../../../dispatcher/providers/hpack.ts";
import { huffmanDecode } from "../../../../dispatcher/providers/hpack-huffman.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const bytesOf = (block: string): Buffer => Buffer.from(block, "latin1");

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

describe("encodeHeaders and decodeHeaders", () => {
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

  it("admits that the peer says its table is empty, and nothing else about a table", () => {
    expect(decodeHeaders(hex("20 88"))).to.deep.equal({ ":status": "200" });
    expect(decodeHeaders(hex("3f e1 1f 88"))).to.equal(null);
    expect(decodeHeaders(hex("be"))).to.equal(null);
  });

  it("refuses index 0 and blocks that end too early, whatever the bytes", () => {
    expect(decodeHeaders(hex("80"))).to.equal(null);
    expect(decodeHeaders(hex("00 05 61"))).to.equal(null);
    expect(decodeHeaders(hex("0f ff ff ff ff ff ff"))).to.equal(null);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        decodeHeaders(Buffer.from(bytes)); // gives headers or null, and always ends
      }),
    );
  });
});
