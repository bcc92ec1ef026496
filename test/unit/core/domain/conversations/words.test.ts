import { expect } from "chai";
import { searchDays, searchedBy, searchKeys, wordsOf } from "#core/domain/conversations/words.ts";
import { dayMs } from "#core/domain/durations.ts";

const now = new Date("2026-11-27T12:00:00Z");

describe("the words of a text", () => {
  const texts: { it: string; text: string; words: string[] }[] = [
    { it: "are in small letters, without accents", text: "Crème BRÛLÉE", words: ["creme", "brulee"] },
    { it: "are letters and digits, two at least", text: "a #4711, x2!", words: ["4711", "x2"] },
    { it: "are each there once", text: "red Red RED", words: ["red"] },
    { it: "are those of any script", text: "привет 你好", words: ["привет", "你好"] },
    { it: "are cut where they are long", text: "a".repeat(40), words: ["a".repeat(32)] },
    { it: "are none of punctuation", text: "?! …", words: [] },
  ];
  for (const { it: what, text, words } of texts)
    it(what, () => {
      expect(wordsOf(text)).to.deep.equal(words);
    });

  it("are thirty at most", () => {
    expect(wordsOf(Array.from({ length: 99 }, (_, n) => `w${n}`).join(" "))).to.have.length(30);
  });

  it("are found by the week in which they were said, for ninety days", () => {
    for (const days of [0, 6, 45, searchDays]) {
      const keys = searchKeys("red shoes", new Date(now.getTime() - days * dayMs));
      expect(searchedBy(["red", "shoes"], now), `${days} days ago`).to.deep.include(keys);
    }
    const [first] = searchedBy(["red"], now);
    expect(first).to.deep.equal(searchKeys("red", now));
    expect(searchedBy(["red"], now).flat()).to.not.include.members(
      searchKeys("red", new Date(now.getTime() - 120 * dayMs)),
    );
  });
});
