import { expect } from "chai";
import { plainText } from "#core/channels/email/plain-text.ts";

const cases: { it: string; html: string; text: string }[] = [
  { it: "keeps plain text as it is", html: "Hello you", text: "Hello you" },
  {
    it: "puts paragraphs apart and breaks on their own line",
    html: "<p>One<br>two</p><p>Three</p>",
    text: "One\ntwo\n\nThree",
  },
  { it: "collapses white space", html: "a  \n\t b", text: "a b" },
  {
    it: "follows a link with its address",
    html: '<a href="https://x.test/?a=1&amp;b=2">Go</a>',
    text: "Go (https://x.test/?a=1&b=2)",
  },
  {
    it: "shows no address that a reader cannot follow",
    html: '<a href="javascript:alert(1)">Go</a> <a name=x>now</a>',
    text: "Go now",
  },
  {
    it: "leaves scripts, styles, heads and comments out",
    html: "<head><title>T</title></head><style>p{}</style>A<script>if (a<b) x()</script><!-- <p>no</p> -->B",
    text: "AB",
  },
  { it: "ends a hidden element in any spelling", html: "<STYLE>x</Style >A", text: "A" },
  { it: "leaves out a hidden element that never ends", html: "A<script>x", text: "A" },
  { it: "makes list items lines with a dash", html: "<ul><li>one</li><li>two</li></ul>", text: "- one\n- two" },
  { it: "separates cells", html: "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", text: "a b\n\nc" },
  {
    it: "reads entities by name and number",
    html: "&lt;b&gt; &amp;amp; &#8364;&#x20AC; &euro;",
    text: "<b> &amp; €€ €",
  },
  { it: "keeps an entity that it does not know", html: "&unknown; &constructor;", text: "&unknown; &constructor;" },
  { it: "keeps a lone less-than sign", html: "1 < 2 and 3 <4", text: "1 < 2 and 3 <4" },
  { it: "is not misled by a quoted greater-than sign", html: '<img alt="a > b" src="x">text', text: "text" },
  { it: "is not misled by names of object members", html: "<constructor>a</constructor>", text: "a" },
  { it: "gives nothing for nothing", html: "", text: "" },
];

describe("the text alternative of an HTML body", () => {
  for (const { it: name, html, text } of cases) {
    it(name, () => expect(plainText(html)).to.equal(text));
  }

  it("takes time in proportion to hostile input", () => {
    const hostile = ["<", "<a ", '<a href="', "<script>", "<!--", "</", "&#", "<p><a href= ", " href"];
    const before = process.threadCpuUsage();
    for (const piece of hostile) plainText(piece.repeat(Math.ceil(500_000 / piece.length)));
    const { user, system } = process.threadCpuUsage(before);
    expect(user + system, "µs").to.be.lessThan(5_000_000);
  });
});
