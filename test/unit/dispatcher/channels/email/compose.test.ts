import { expect } from "chai";
import fc from "fast-check";
import { simpleParser } from "mailparser";
import { renderEmail } from "#core/channels/email/render.ts";
import { composed } from "../../../../../dispatcher/channels/email/compose.ts";
import { encodedMail } from "../../../../../dispatcher/channels/email/mime-body.ts";

const account = { from: { name: null, address: "news@shop.test" }, dkim: null, links: null, bounces: null };
const to = { deliveryId: "dlv_1", subscriptionId: "sub_1", address: "a@b.test" };
const settings = { tracking: { opens: false, clicks: false }, transactionalCategories: [] };

const headOf = (subject: string, fromName = ""): Buffer => {
  const content = { email_subject: subject, email_body: "x", ...(fromName && { email_from_name: fromName }) };
  const mail = composed(account, encodedMail(renderEmail({ content, options: {} }, settings)), to);
  return mail.subarray(0, mail.indexOf("\r\n\r\n") + 4);
};

const longest = (head: Buffer): number =>
  Math.max(
    ...head
      .toString()
      .split("\r\n")
      .map((line) => line.length),
  );

describe("the head of a mail", () => {
  for (const subject of [
    "x".repeat(998),
    "=?utf-8?B?aGk=?= literal",
    "=?utf-8?Q?hi?=",
    `a${" ".repeat(900)}b`,
    `Order ${"4".repeat(80)} is "here"`,
    "ä".repeat(998),
  ])
    it(`has the subject ${subject.slice(0, 24)} as it was given, in lines of 78 characters at most`, async () => {
      const head = headOf(subject);
      expect((await simpleParser(head)).subject).to.equal(subject);
      expect(longest(head)).to.be.at.most(78); // RFC 5322 2.1.1
    });

  it("has any subject as it was given, in lines that every server takes", async () => {
    const part = fc.oneof(
      fc.string({ unit: "grapheme-ascii", maxLength: 40 }),
      fc.constantFrom("=?utf-8?B?aGk=?=", "=?", "?=", " ", "x".repeat(300), "\n", "ä", "😀"),
    );
    const subjects = fc.array(part, { maxLength: 8 }).map((parts) => parts.join("").slice(0, 998));
    await fc.assert(
      fc.asyncProperty(subjects, async (subject) => {
        const head = headOf(subject);
        const { subject: read = "" } = await simpleParser(head);
        const shown = (text: string) => text.toWellFormed().replace(/\s+/g, " ").trim();
        expect(shown(read)).to.equal(shown(subject));
        expect(longest(head)).to.be.at.most(998);
      }),
      { numRuns: 200 },
    );
  });

  for (const name of ["=?utf-8?B?aGk=?=", `${"n".repeat(100)} =?`, 'The "Shop"', "Bücher"])
    it(`has the sender ${name} as it was given`, async () => {
      const head = headOf("s", name);
      expect((await simpleParser(head)).from?.value).to.deep.equal([{ address: "news@shop.test", name }]);
      expect(head.toString()).not.to.contain(`"=?`);
    });
});

describe("a mail with files", () => {
  it("is its texts and its files as they were given, whatever they are called", async () => {
    const body = encodedMail(
      renderEmail({ content: { email_subject: "s", email_body: "<p>Hi =_files</p>" }, options: {} }, settings),
    );
    const attached = [
      {
        filename: 'The "bill" für Ann.pdf',
        mimeType: "application/pdf",
        content: Buffer.from(["x\r\n".repeat(99)].join()),
      },
      { filename: "a\r\nBcc: eve@x.test\r\n\r\nb.png", mimeType: "image/png", content: Buffer.alloc(0) },
    ];
    const raw = composed(account, { ...body, attached }, to);
    const mail = await simpleParser(raw);
    expect([mail.text?.trim(), mail.html]).to.deep.equal(["Hi =_files", "<p>Hi =_files</p>"]);
    expect(mail.headerLines.map(({ key }) => key)).to.not.include("bcc");
    expect(mail.attachments.map((one) => [one.contentType, one.contentDisposition, one.content])).to.deep.equal(
      attached.map(({ mimeType, content }) => [mimeType, "attachment", content]),
    );
    expect(mail.attachments[0]?.filename).to.equal(attached[0]?.filename);
    expect(longest(raw)).to.be.at.most(998);
  });
});
