import { expect } from "chai";
import { partedText } from "#core/domain/conversations/quoted.ts";

const cases: { it: string; given: string; text: string; quoted: string | null }[] = [
  { it: "nothing quoted", given: "Hello\r\nthere\r\n", text: "Hello\nthere", quoted: null },
  {
    it: "an introduction and quoted lines",
    given: "Yes, please.\n\nOn Mon, 3 Nov 2025 at 10:00, Shop <s@shop.test> wrote:\n> Red?\n> Blue?\n",
    text: "Yes, please.",
    quoted: "On Mon, 3 Nov 2025 at 10:00, Shop <s@shop.test> wrote:\n> Red?\n> Blue?",
  },
  {
    it: "an introduction on two lines, in German",
    given: "Ja.\n\nAm Montag, dem 3. November 2025, um 10:00 Uhr\nschrieb Shop <s@shop.test>:\n\n> Rot?",
    text: "Ja.",
    quoted: "Am Montag, dem 3. November 2025, um 10:00 Uhr\nschrieb Shop <s@shop.test>:\n\n> Rot?",
  },
  {
    it: "Outlook's separator",
    given: "Yes.\n\n-----Original Message-----\nFrom: Shop\nRed?",
    text: "Yes.",
    quoted: "-----Original Message-----\nFrom: Shop\nRed?",
  },
  {
    it: "Outlook's line above headers",
    given: `Yes.\n\n${"_".repeat(32)}\nFrom: Shop <s@shop.test>\nRed?`,
    text: "Yes.",
    quoted: `${"_".repeat(32)}\nFrom: Shop <s@shop.test>\nRed?`,
  },
  { it: "quoted lines alone at the end", given: "Yes.\n> Red?", text: "Yes.", quoted: "> Red?" },
  {
    it: "answers between quoted lines, which stay whole",
    given: "> Red?\nYes.\n> Large?\nNo.",
    text: "> Red?\nYes.\n> Large?\nNo.",
    quoted: null,
  },
  { it: "nothing else than quoted lines", given: "> Red?", text: "> Red?", quoted: null },
  {
    it: "a sentence like an introduction, which nothing quoted follows",
    given: "On Monday you wrote:\nit is blue",
    text: "On Monday you wrote:\nit is blue",
    quoted: null,
  },
];

describe("a mail's text", () => {
  for (const { it: what, given, text, quoted } of cases)
    it(`is parted from ${what}`, () => expect(partedText(given)).to.deep.equal({ text, quoted }));
});
