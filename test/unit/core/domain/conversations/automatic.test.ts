import { expect } from "chai";
import { isAutomatic } from "#core/domain/conversations/automatic.ts";

const cases: [string, Record<string, string>, boolean, string?][] = [
  ["a person's", {}, false],
  ["one that says that nobody's program sent it", { "auto-submitted": "no" }, false],
  ["an absence", { "auto-submitted": "auto-replied (vacation)" }, true],
  ["a program's", { "auto-submitted": "Auto-Generated; owner=x" }, true],
  ["a newsletter", { precedence: "Bulk" }, true],
  ["a person's over a mailing list", { precedence: "list" }, false],
  ["a bounce without a sender", { "return-path": "<>" }, true],
  ["a report", { "content-type": "multipart/report; report-type=delivery-status" }, true],
  ["an older program's absence", { "x-autoreply": "yes" }, true],
  ["a mail server's", {}, true, "mailer-daemon@mx.test"],
];

describe("a mail of a program", () => {
  for (const [what, headers, is, from = "ann@example.test"] of cases)
    it(`is${is ? "" : " not"} ${what}`, () => expect(isAutomatic(new Map(Object.entries(headers)), from)).to.equal(is));
});
