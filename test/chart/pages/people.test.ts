import { expect } from "chai";
import { type Look, lookOf } from "../../../apiserver/links/people/look.ts";
import { choicePage, donePage } from "../../../apiserver/links/people/page.ts";
import { barriers, type Site, startSite } from "./browser.ts";

const categories = [
  { category: "news", name: "What is new in our shops and beyond" },
  { category: "offers", name: "Donaudampfschifffahrtsgesellschaftskapitänsangebote" },
];
const reader = { who: "a•••@a-rather-long-name-of-a-domain.example", isOut: true, unwanted: ["news"] };
const colours = ["#1f5fbf", "#ffe000"];
const pages = {
  choose: (look: Look) => choicePage(look, reader, true),
  leave: (look: Look) => choicePage({ ...look, categories: [] }, reader),
  done: (look: Look) => donePage(look, reader),
};

describe("the pages for people in a browser", () => {
  let site: Site;

  before(async () => {
    site = await startSite("/u/", async ({ parts: [kind = "", colour = "", language = ""] }) => {
      const look = lookOf(
        { name: "Shop", pages: { categories, colour: `#${colour}`, languages: null }, languages: [language] },
        null,
      );
      if (!(kind in pages)) return { status: 204, headers: {}, body: "" }; // the browser asks for an icon by itself
      return pages[kind as keyof typeof pages](look); // sound: it is one of them
    });
  });
  beforeEach(() => {
    site.complaints.length = 0;
  });
  after(() => site?.close());

  for (const scheme of ["light", "dark"] as const)
    for (const kind of Object.keys(pages))
      it(`can be used by everybody: ${kind}, ${scheme}`, async () => {
        for (const colour of colours) {
          const page = await site.open(`${kind}/${colour.slice(1)}/de`, { scheme, isScripted: true });
          expect(await barriers(page), colour).to.deep.equal([]);
          await page.close();
        }
        expect(site.complaints).to.deep.equal([]);
      });

  it("fit on 320 px and on a wide screen in every language, without a script", async () => {
    const page = await site.open("choose/1f5fbf/en", { isScripted: false });
    for (const language of ["en", "de", "fr", "es", "it", "pt", "nl"])
      for (const kind of Object.keys(pages)) {
        await page.goto(`${site.url}${kind}/1f5fbf/${language}`);
        for (const width of [320, 1_280]) {
          await page.setViewport({ width, height: 800 });
          const wide = await page.evaluate("document.documentElement.scrollWidth");
          expect(wide, `${kind}, ${language}, ${width}`).to.equal(width);
        }
      }
    await page.goto(`${site.url}choose/1f5fbf/en`);
    expect(await page.evaluate("getComputedStyle(document.querySelector('button')).backgroundColor")).to.equal(
      "rgb(31, 95, 191)",
    );
    await page.close();
  });
});
