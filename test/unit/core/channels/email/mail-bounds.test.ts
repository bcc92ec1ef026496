import { expect } from "chai";
import { mailBounds, mailProblem } from "#core/channels/email/mail-bounds.ts";

const { bytes, headBytes, parts } = mailBounds;
const head = "Subject: a\r\n\r\n";

describe("the bounds of a mail", () => {
  const cases: [string, string, string | undefined][] = [
    ["a usual one", `${head}Hello`, undefined],
    ["one of the largest size", head + "a".repeat(bytes - head.length), undefined],
    ["one that is larger", head + "a".repeat(bytes), "bytes"],
    ["one whose head never ends", "X: a\r\n".repeat(headBytes / 6 + 1), "head"],
    ["one with the most parts", head + "\n--".repeat(parts), undefined],
    ["one with more parts", head + "\n--".repeat(parts + 1), "parts"],
    ["nothing", "", undefined],
  ];
  for (const [what, mime, problem] of cases)
    it(`${problem === undefined ? "admit" : "refuse"} ${what}`, () =>
      expect(mailProblem(Buffer.from(mime))?.what).to.equal(problem));
});
