import { expect } from "chai";
import fc from "fast-check";
import { renderEmail } from "#core/channels/email/render.ts";
import { bodyOf, encodedMail, mailType } from "../../../../../dispatcher/channels/email/mime-body.ts";

const settings = { tracking: { opens: true, clicks: true }, transactionalCategories: [] };

/** Headers and text of a part. Source: RFC 2045 6.7. */
const read = (raw: string) => {
  const at = raw.indexOf("\r\n\r\n");
  const bytes = raw
    .slice(at + 4)
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { head: raw.slice(0, at), text: Buffer.from(bytes, "latin1").toString(), lines: raw.split("\r\n") };
};

const partsOf = (body: string, addressOf: (to: string) => string = (to) => to) => {
  const mail = encodedMail(renderEmail({ content: { email_body: body }, options: {} }, settings));
  const [, boundary = ""] = /boundary="(.*)"/.exec(mailType(mail)) ?? [];
  const raw = bodyOf(mail, (tracker) => addressOf(tracker.kind === "click" ? tracker.to : "open"));
  const [before, plain = "", html = "", after, ...more] = raw.split(`\r\n--${boundary}`);
  expect([before, after, ...more]).to.deep.equal(["", "--\r\n"]);
  return [plain, html].map((part) => read(part.slice(2)));
};

describe("the encoded bodies of a mail", () => {
  it("are a plain text and an HTML part, the latter last", () => {
    const [plain, html] = partsOf("<p>Hello</p>");
    const encoding = "Content-Transfer-Encoding: quoted-printable";
    expect(plain?.head).to.equal(`Content-Type: text/plain; charset=utf-8\r\n${encoding}`);
    expect(html?.head).to.equal(`Content-Type: text/html; charset=utf-8\r\n${encoding}`);
    expect(plain?.text).to.equal("Hello");
  });

  it("have each recipient's addresses, however long", () => {
    const address = `https://links.test/c/${"a=".repeat(1_000)}`;
    const [plain, html] = partsOf('<a href="https://x.test/">Go</a> on', () => address);
    expect(plain?.text).to.equal(`Go (${address}) on`);
    expect(html?.text).to.match(/^<a href="https:\/\/links\.test\/c\/(a=){1000}">Go<\/a> on<img src="https:/);
  });

  it("say what the sender wrote, in lines that every server takes", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.constantFrom(
        "\n",
        "\r\n",
        " ",
        "\t",
        ".",
        "=",
        "ä",
        "😀",
        '<a href="https://x.test/ä?a=1">Go</a>',
        "a".repeat(100),
      ),
    );
    const clean = (text: string) => text.toWellFormed().replaceAll("\0", "");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const body = clean(pieces.join(""));
        const [, html] = partsOf(body);
        const shown = html?.text.replace(/<img src="open"[^>]*>/, "").replaceAll("\r\n", "\n");
        expect(shown).to.equal(body.replace(/\r\n?/g, "\n"));
        expect(html?.lines.filter((line) => line.length > 76 || /[^\t\x20-\x7e]/.test(line))).to.deep.equal([]);
      }),
      { numRuns: 300, examples: [[[" ", "=", "𐀀".repeat(5)]]] },
    );
  });
});
