import { expect } from "chai";
import { checkAddress } from "#core/channels/addresses.ts";
import { isReservedId } from "#core/domain/people/reserved-ids.ts";
import { isTimeZone } from "#core/domain/time-zone.ts";
import type { SendableChannel } from "#core/schema/vocabulary/channels.ts";

describe("checkAddress", () => {
  const cases: { channel: SendableChannel; given: string; kept: string | null }[] = [
    { channel: "ios_push", given: "AB".repeat(32), kept: "ab".repeat(32) },
    { channel: "ios_push", given: "ab".repeat(100), kept: "ab".repeat(100) },
    { channel: "ios_push", given: "ab".repeat(31), kept: null },
    { channel: "ios_push", given: `${"ab".repeat(32)}g0`, kept: null },
    { channel: "android_push", given: "dQw4w9WgXcQ:APA91bH-x_y", kept: "dQw4w9WgXcQ:APA91bH-x_y" },
    { channel: "android_push", given: "short", kept: null },
    { channel: "web_push", given: "https://push.example/a?b=1", kept: "https://push.example/a?b=1" },
    { channel: "web_push", given: "http://127.0.0.1:8080/a", kept: "http://127.0.0.1:8080/a" },
    { channel: "web_push", given: "http://localhost.example/a", kept: null },
    { channel: "web_push", given: "https://u:p@push.example/a", kept: null },
    { channel: "web_push", given: "javascript:alert(1)", kept: null },
    { channel: "email", given: "Anna+X@Example.COM", kept: "anna+x@example.com" },
    { channel: "email", given: "o'hara@example.co.uk", kept: "o'hara@example.co.uk" },
    { channel: "email", given: "jürgen@bücher.example", kept: "jürgen@xn--bcher-kva.example" },
    { channel: "email", given: "a@b", kept: null },
    { channel: "email", given: "@example.com", kept: null },
    { channel: "email", given: "a..b@example.com", kept: null },
    { channel: "email", given: "Anna <a@example.com>", kept: null },
    { channel: "email", given: `${"a".repeat(65)}@example.com`, kept: null },
    { channel: "email", given: "a@-x.example", kept: null },
    { channel: "email", given: "a\u0000@example.com", kept: null },
  ];
  for (const { channel, given, kept } of cases) {
    it(`${kept === null ? "refuses" : "keeps"} ${channel} ${given.slice(0, 40)}`, () => {
      const checked = checkAddress(channel, given);
      expect(checked.ok ? checked.address : null).to.equal(kept);
    });
  }
});

describe("isReservedId", () => {
  for (const id of [
    "",
    " ",
    "0",
    "null",
    "NULL",
    "undefined",
    "NA",
    "-1",
    "unknown",
    "not set",
    "00000000-0000-0000-0000-000000000000",
  ]) {
    it(`refuses ${JSON.stringify(id)}`, () => expect(isReservedId(id)).to.equal(true));
  }
  for (const id of ["1", "00", "nullable", "10000000-0000-0000-0000-000000000000"]) {
    it(`takes ${id}`, () => expect(isReservedId(id)).to.equal(false));
  }
});

describe("isTimeZone", () => {
  for (const [name, known] of [
    ["Europe/Berlin", true],
    ["UTC", true],
    ["Etc/GMT+5", true],
    ["+02:00", false],
    ["Mars/Base", false],
    ["", false],
  ] as const) {
    it(`${known ? "knows" : "does not know"} ${JSON.stringify(name)}`, () => expect(isTimeZone(name)).to.equal(known));
  }
});
