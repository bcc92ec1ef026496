import { expect } from "chai";
import fc from "fast-check";
import { segmentsOf } from "#core/channels/sms/segments.ts";

const cases: { it: string; text: string; segments: number }[] = [
  { it: "the empty text", text: "", segments: 1 },
  { it: "160 characters of GSM-7", text: "a".repeat(160), segments: 1 },
  { it: "161 characters of GSM-7", text: "a".repeat(161), segments: 2 },
  { it: "two parts of GSM-7, full", text: "a".repeat(306), segments: 2 },
  { it: "one character more", text: "a".repeat(307), segments: 3 },
  { it: "80 characters of the extension table, each of two", text: "€".repeat(80), segments: 1 },
  { it: "81 of them", text: "€".repeat(81), segments: 2 },
  { it: "an extension that would be split after 152", text: `${"a".repeat(152)}€${"a".repeat(152)}`, segments: 3 },
  { it: "the same text with the extension one later", text: `${"a".repeat(153)}€${"a".repeat(151)}`, segments: 2 },
  { it: "a line feed, a carriage return and a form feed", text: `\n\r\f${"a".repeat(156)}`, segments: 1 },
  { it: "Ç, which is of GSM-7", text: "Ç".repeat(160), segments: 1 },
  { it: "ç, which is not", text: "ç".repeat(71), segments: 2 },
  { it: "a backtick, which is not", text: `${"a".repeat(70)}\``, segments: 2 },
  { it: "70 characters of UCS-2", text: "ж".repeat(70), segments: 1 },
  { it: "71 characters of UCS-2", text: "ж".repeat(71), segments: 2 },
  { it: "two parts of UCS-2, full", text: "ж".repeat(134), segments: 2 },
  { it: "one character more", text: "ж".repeat(135), segments: 3 },
  { it: "35 pairs of surrogates", text: "😀".repeat(35), segments: 1 },
  { it: "36 pairs: 33 fit into a part of 67, and none is split", text: "😀".repeat(66), segments: 2 },
  { it: "67 pairs, which would be two parts if one were split", text: "😀".repeat(67), segments: 3 },
  { it: "a euro in a text of UCS-2, which is one there", text: `ж${"€".repeat(69)}`, segments: 1 },
];

describe("the segments of a text", () => {
  for (const { it: name, text, segments } of cases) {
    it(`are ${segments} of ${name}`, () => {
      expect(segmentsOf(text)).to.equal(segments);
    });
  }

  it("never become fewer when a text grows", () => {
    const texts = fc.array(fc.constantFrom("a", "€", "ç", "😀", "\n"), { maxLength: 400 });
    fc.assert(fc.property(texts, (parts) => segmentsOf(parts.join("")) >= segmentsOf(parts.slice(0, -1).join(""))));
  });
});
