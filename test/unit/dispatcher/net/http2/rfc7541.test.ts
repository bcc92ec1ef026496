import { expect } from "chai";
import { encodedInteger, encodeHeaders, headerDecoder } from "../../../../../dispatcher/net/http2/hpack.ts";
import { huffmanDecode } from "../../../../../dispatcher/net/http2/hpack-huffman.ts";
import { staticTable } from "../../../../support/http2/static-table.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ""), "hex");
const bytesOf = (block: string): Buffer => Buffer.from(block, "latin1");

/** What one block says, and what the dynamic table holds after it, the newest first. */
type Example = { name: string; block: string; headers: Record<string, string>; table: [name: string, value: string][] };

const get = { ":method": "GET", ":scheme": "http", ":path": "/", ":authority": "www.example.com" };
const getIndex = { ...get, ":scheme": "https", ":path": "/index.html", "custom-key": "custom-value" };
const authority: [string, string] = [":authority", "www.example.com"];
const noCache: [string, string] = ["cache-control", "no-cache"];
const tables = { first: [authority], second: [noCache, authority] };
const third: Example["table"] = [["custom-key", "custom-value"], noCache, authority];

const isPrivate = { "cache-control": "private", location: "https://www.example.com" };
const at21 = "Mon, 21 Oct 2013 20:13:21 GMT";
const at22 = "Mon, 21 Oct 2013 20:13:22 GMT";
const cookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
const after302: Example["table"] = [
  ["location", "https://www.example.com"],
  ["date", at21],
  ["cache-control", "private"],
  [":status", "302"],
];
const after307: Example["table"] = [[":status", "307"], ...after302.slice(0, 3)];
const after200: Example["table"] = [
  ["set-cookie", cookie],
  ["content-encoding", "gzip"],
  ["date", at22],
];
const said302 = { ...isPrivate, ":status": "302", date: at21 };
const said307 = { ...isPrivate, ":status": "307", date: at21 };
const said200 = { ...isPrivate, ":status": "200", date: at22, "content-encoding": "gzip", "set-cookie": cookie };

/** Each list is one connection; the table holds as many bytes as the appendix says. */
const connections: { name: string; tableBytes: number; examples: Example[] }[] = [
  {
    name: "C.2.1",
    tableBytes: 4096,
    examples: [
      {
        name: "a literal that is added",
        block: "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
        headers: { "custom-key": "custom-header" },
        table: [["custom-key", "custom-header"]],
      },
    ],
  },
  {
    name: "C.2.2 to C.2.4",
    tableBytes: 4096,
    examples: [
      {
        name: "a literal that is not added",
        block: "040c 2f73 616d 706c 652f 7061 7468",
        headers: { ":path": "/sample/path" },
        table: [],
      },
      {
        name: "a literal that never is",
        block: "1008 7061 7373 776f 7264 0673 6563 7265 74",
        headers: { password: "secret" },
        table: [],
      },
      { name: "an indexed field", block: "82", headers: { ":method": "GET" }, table: [] },
    ],
  },
  {
    name: "C.3, requests without Huffman",
    tableBytes: 4096,
    examples: [
      {
        name: "the first",
        block: "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        headers: get,
        table: tables.first,
      },
      {
        name: "the second",
        block: "8286 84be 5808 6e6f 2d63 6163 6865",
        headers: { ...get, "cache-control": "no-cache" },
        table: tables.second,
      },
      {
        name: "the third",
        block: "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
        headers: getIndex,
        table: third,
      },
    ],
  },
  {
    name: "C.4, requests with Huffman",
    tableBytes: 4096,
    examples: [
      { name: "the first", block: "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", headers: get, table: tables.first },
      {
        name: "the second",
        block: "8286 84be 5886 a8eb 1064 9cbf",
        headers: { ...get, "cache-control": "no-cache" },
        table: tables.second,
      },
      {
        name: "the third",
        block: "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
        headers: getIndex,
        table: third,
      },
    ],
  },
  {
    name: "C.5, responses without Huffman",
    tableBytes: 256,
    examples: [
      {
        name: "the first",
        block: `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d
          546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
        headers: said302,
        table: after302,
      },
      { name: "the second", block: "4803 3330 37c1 c0bf", headers: said307, table: after307 },
      {
        name: "the third",
        block: `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f
          6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b
          2076 6572 7369 6f6e 3d31`,
        headers: said200,
        table: after200,
      },
    ],
  },
  {
    name: "C.6, responses with Huffman",
    tableBytes: 256,
    examples: [
      {
        name: "the first",
        block: `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7
          8f0b 97c8 e9ae 82ae 43d3`,
        headers: said302,
        table: after302,
      },
      { name: "the second", block: "4883 640e ffc1 c0bf", headers: said307, table: after307 },
      {
        name: "the third",
        block: `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
          dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
        headers: said200,
        table: after200,
      },
    ],
  },
];

describe("RFC 7541 Appendix A", () => {
  it("is the table that every decoder begins with", () => {
    for (const [place, [name, value]] of staticTable.entries())
      expect(headerDecoder()(Buffer.of(0x80 | (place + 1)))).to.deep.equal({ [name]: value });
    expect(headerDecoder()(Buffer.of(0x80 | (staticTable.length + 1)))).to.equal(null);
  });
});

describe("RFC 7541 Appendix C", () => {
  it("writes integers as C.1 does", () => {
    expect(bytesOf(encodedInteger(10, 5, 0))).to.deep.equal(hex("0a"));
    expect(bytesOf(encodedInteger(1337, 5, 0))).to.deep.equal(hex("1f 9a 0a"));
    expect(bytesOf(encodedInteger(42, 8, 0))).to.deep.equal(hex("2a"));
  });

  for (const size of [10, 1337])
    it(`reads ${size} as C.1 does, as a size of the table`, () => {
      const update = bytesOf(encodedInteger(size, 5, 0x20));
      expect(headerDecoder(size)(update)).to.deep.equal({});
      expect(headerDecoder(size - 1)(update)).to.equal(null);
    });

  for (const { name, tableBytes, examples } of connections)
    it(`reads ${name}, and has the same table after each block`, () => {
      for (const [nth, { name: which, headers, table }] of examples.entries()) {
        const decode = headerDecoder(tableBytes);
        const decoded = examples.slice(0, nth + 1).map(({ block }) => decode(hex(block)));
        expect(decoded.at(-1), which).to.deep.equal(headers);
        for (const [place, [key, value]] of table.entries())
          expect(decode(Buffer.of(0x80 | (62 + place))), which).to.deep.equal({ [key]: value });
        expect(decode(Buffer.of(0x80 | (62 + table.length))), which).to.equal(null);
      }
    });

  it("writes a literal that is not added as C.2.2 does", () => {
    expect(bytesOf(encodeHeaders({ ":path": "/sample/path" }))).to.deep.equal(
      hex("040c 2f73 616d 706c 652f 7061 7468"),
    );
  });

  it("marks what proves who we are as C.2.3 marks what is never added", () => {
    expect(bytesOf(encodeHeaders({ authorization: "secret" }))).to.deep.equal(hex("1f08 0673 6563 7265 74")); // name 23
  });

  it("reads the lone strings of C.4 and C.6", () => {
    const strings: [string, string][] = [
      ["f1e3 c2e5 f23a 6ba0 ab90 f4ff", "www.example.com"],
      ["a8eb 1064 9cbf", "no-cache"],
      ["25a8 49e9 5ba9 7d7f", "custom-key"],
      ["25a8 49e9 5bb8 e8b4 bf", "custom-value"],
      ["6402", "302"],
      ["640e ff", "307"],
      ["aec3 771a 4b", "private"],
      ["d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff", at21],
      ["9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3", "https://www.example.com"],
    ];
    for (const [coded, text] of strings) expect(huffmanDecode(hex(coded))).to.equal(text);
  });
});
