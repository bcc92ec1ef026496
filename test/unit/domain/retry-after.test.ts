import { expect } from "chai";
import { retryAfter } from "#core/domain/retry-after.ts";

const now = new Date("2026-11-21T12:00:00Z");

const rows: { header: string | undefined; seconds: number | null }[] = [
  { header: undefined, seconds: null },
  { header: "", seconds: null },
  { header: "soon", seconds: null },
  { header: "-5", seconds: null },
  { header: "0", seconds: 0 },
  { header: " 30 ", seconds: 30 },
  { header: "9999999", seconds: 3600 },
  { header: "99999999999999999999", seconds: null },
  { header: "Sat, 21 Nov 2026 12:00:45 GMT", seconds: 45 },
  { header: "Sat, 21 Nov 2026 11:00:00 GMT", seconds: 0 },
  { header: "Sat, 21 Nov 2037 11:00:00 GMT", seconds: 3600 },
];

describe("Retry-After", () => {
  for (const { header, seconds } of rows) {
    it(`${header} means ${seconds === null ? "nothing" : `${seconds} s`}`, () => {
      const at = retryAfter(header, now, 3_600_000);
      expect(at && (at.getTime() - now.getTime()) / 1000).to.equal(seconds);
    });
  }
});
