import { expect } from "chai";
import { isReservedId } from "#core/domain/people/reserved-ids.ts";
import { isTimeZone } from "#core/domain/time-zone.ts";

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
