import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { expect } from "chai";
import { rootDir } from "../../../dev/files/paths.ts";

type File = { path: string; text: string };

const filesOf = (...patterns: readonly string[]): File[] =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: rootDir }))
    .map((path) => ({ path, text: readFileSync(`${rootDir}/${path}`, "utf8") }));

const sources = filesOf("{apiserver,config,core,dev,dispatcher,operator,test}/**/*.{ts,yaml}");
const pages = filesOf("*.md", "docs/**/*.md", "charts/**/*.md");
const folder = "docs/reference";
const reference = new Map(pages.filter(({ path }) => dirname(path) === folder).map(({ path, text }) => [path, text]));

const withoutCode = (text: string): string => text.replaceAll(/^```.*?^```$/gms, "");

const headingsOf = (text: string): string[] =>
  [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");

/** A page of the reference that a file cites, with the anchor; none is the page as a whole. */
type Citation = { from: string; page: string; anchor: string | undefined };

const citationsIn = ({ path, text }: File): Citation[] =>
  [...text.matchAll(/docs\/reference\/([\w-]+\.md)(?:#([\w-]+))?/g)].map(([, name = "", anchor]) => ({
    from: path,
    page: `${folder}/${name}`,
    anchor,
  }));

/** Links of Markdown, which are relative to their own page. */
const linksIn = ({ path, text }: File): Citation[] =>
  [...text.matchAll(/\]\(([\w./-]+\.md)?(?:#([\w-]+))?\)/g)]
    .map(([, target, anchor]) => ({
      from: path,
      page: target === undefined ? path : join(dirname(path), target),
      anchor,
    }))
    .filter(({ page }) => dirname(page) === folder);

const isKept = ({ page, anchor }: Citation): boolean => {
  const text = reference.get(page);
  if (text === undefined) return false;
  return anchor === undefined || headingsOf(text).map(anchorOf).includes(anchor);
};

/** Numbered parts of documents that are not in the repository. */
const outside = /\b(?:decisions|spec|specification)(?:,? parts?)? \d|\bspecification \((?:part )?\d/i;

describe("docs/reference", () => {
  it("has every page and heading that source, tests and pages cite", () => {
    const citations = [...[...sources, ...pages].flatMap(citationsIn), ...pages.flatMap(linksIn)];
    expect(citations).to.have.length.above(50);
    expect(citations.filter((citation) => !isKept(citation))).to.deep.equal([]);
  });

  it("has headings that can be cited in a line: of three words at most, each once on its page", () => {
    for (const [page, text] of reference) {
      const headings = headingsOf(text);
      expect(headings.filter((heading) => heading.split(" ").length > 3)).to.deep.equal([], page);
      expect(new Set(headings.map(anchorOf)).size, page).to.equal(headings.length);
    }
  });

  it("has an index of all its pages", () => {
    const index = `${folder}/README.md`;
    const listed = pages.filter(({ path }) => path === index).flatMap(linksIn);
    expect([index, ...listed.map(({ page }) => page)]).to.have.members([...reference.keys()]);
  });

  it("is what source and tests cite, not documents outside the repository", () => {
    const lines = sources.flatMap(({ path, text }) => text.split("\n").map((line) => `${path}: ${line.trim()}`));
    expect(lines.filter((line) => outside.test(line))).to.deep.equal([]);
  });
});
