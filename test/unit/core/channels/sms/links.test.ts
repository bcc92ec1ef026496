import { expect } from "chai";
import { linkedText, shortCode, withLinks } from "#core/channels/sms/links.ts";

const cases: { it: string; text: string; links: string[] }[] = [
  { it: "no link", text: "Your parcel has left us.", links: [] },
  { it: "a link alone", text: "https://shop.example/orders/4711", links: ["https://shop.example/orders/4711"] },
  { it: "the end of a sentence", text: "See https://shop.example/a.", links: ["https://shop.example/a"] },
  { it: "brackets around it", text: "(see http://shop.example/a?b=c)", links: ["http://shop.example/a?b=c"] },
  { it: "brackets in it", text: "https://shop.example/a_(b)", links: ["https://shop.example/a_(b)"] },
  {
    it: "two links",
    text: "https://a.example, https://b.example!",
    links: ["https://a.example", "https://b.example"],
  },
  { it: "another scheme", text: "mailto:a@b.example ftp://c.example", links: [] },
  { it: "what is no address", text: "https://", links: [] },
];

describe("the links of a text", () => {
  for (const { it: name, text, links } of cases) {
    it(`are found with ${name}, and the text is what it was`, () => {
      const taken = linkedText(text);
      expect(taken.links).to.deep.equal(links);
      expect(withLinks(taken, (link) => link)).to.equal(text);
    });
  }

  it("are replaced where they stand", () => {
    const text = withLinks(linkedText("A https://a.example B https://b.example."), (_, index) => `<${index}>`);
    expect(text).to.equal("A <0> B <1>.");
  });

  it("have codes of eleven letters and digits, one for each delivery and place", () => {
    const codes = ["dlv_1", "dlv_2"].flatMap((id) => [shortCode(id, 0), shortCode(id, 1)]);
    expect(new Set(codes).size).to.equal(4);
    for (const code of codes) expect(code).to.match(/^[A-Za-z0-9]{11}$/);
    expect(shortCode("dlv_1", 0)).to.equal(codes[0]);
  });
});
