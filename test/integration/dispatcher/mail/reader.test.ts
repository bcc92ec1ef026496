import { expect } from "chai";
import { mailReader } from "../../../../dispatcher/mail/reader.ts";

describe("the reader of mails", () => {
  const reader = mailReader();
  after(() => reader.stop());

  const mail = (lines: readonly (string | Buffer)[]): Buffer =>
    Buffer.concat(["From: Ann <ann@example.test>", "Message-ID: <1@x>", ...lines].map((line) => lineOf(line)));
  const lineOf = (line: string | Buffer): Buffer => Buffer.concat([Buffer.from(line), Buffer.from("\r\n")]);
  const read = async (lines: readonly (string | Buffer)[]) =>
    (await reader.read("app_1", mail(lines))) ?? expect.fail("it was not read");

  it("reads what is nested 100 deep", async () => {
    const open = Array.from({ length: 100 }, (_, n) => [
      `Content-Type: multipart/mixed; boundary=b${n}`,
      "",
      `--b${n}`,
    ]);
    const closed = Array.from({ length: 100 }, (_, n) => `--b${99 - n}--`);
    const found = await read([...open.flat(), "Content-Type: text/plain", "", "Deep down", ...closed]);
    expect(found.text?.trim()).to.equal("Deep down");
  });

  it("reads mails within mails, 100 deep, as files", async () => {
    const inner = Array.from({ length: 100 }, () => ["Content-Type: message/rfc822", ""]);
    const found = await read([...inner.flat(), "Content-Type: text/plain", "", "Deep down"]);
    expect(found.files.length).to.be.lessThan(2);
    expect(found.from?.address).to.equal("ann@example.test");
  });

  it("shows what is no character of its charset as U+FFFD, also when nobody knows the charset", async () => {
    for (const [charset, bytes, text] of [
      ["utf-8", Buffer.from([0x67, 0x72, 0xfc, 0x6e]), "gr\ufffdn"],
      ["iso-8859-1", Buffer.from([0x67, 0x72, 0xfc, 0x6e]), "gr\u00fcn"],
      ["no-such-charset", Buffer.from("red"), "red"],
      ["utf-16", Buffer.from("red"), null],
      ["utf-7", Buffer.from("+AGEAYg-"), null],
    ] as const) {
      const found = await read([`Content-Type: text/plain; charset=${charset}`, "", bytes]);
      if (text === null) expect(found.text, charset).to.be.a("string");
      else expect(found.text?.trim(), charset).to.equal(text);
    }
    const subject = await read(["Subject: =?no-such?Q?a=FC?= =?utf-8?B?%%%?=", "", "b"]);
    expect(subject.subject).to.be.a("string");
  });

  it("keeps of files and addresses as many as there may be", async () => {
    const to = `To: ${Array.from({ length: 200 }, (_, n) => `a${n}@x.test`).join(", ")}`;
    const parts = Array.from({ length: 60 }, () => ["--b", "Content-Type: image/png", "", "x"]);
    const found = await read([to, "Content-Type: multipart/mixed; boundary=b", "", ...parts.flat(), "--b--"]);
    expect([found.to.length, found.files.length]).to.deep.equal([50, 30]);
  });

  it("gives up on what takes too long, and reads the next", async () => {
    const hasty = mailReader(1);
    const slow = `To: ${"a@b.test,".repeat(100_000)}`;
    expect(await hasty.read("app_1", mail([slow, "", "b"]))).to.equal(null);
    await hasty.stop();
    expect((await read(["Subject: next", "", "b"])).subject).to.equal("next");
  });
});
