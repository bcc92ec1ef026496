import { expect } from "chai";
import { formMembers } from "#core/channels/email/mail-form.ts";

const multipart = (...parts: string[]): Buffer =>
  Buffer.from(`${parts.map((part) => `--b\r\nContent-Disposition: form-data; ${part}`).join("")}--b--\r\n`);
const textOf = (body: Buffer) =>
  Object.fromEntries([...formMembers(body)].map(([name, value]) => [name, value.toString()]));

describe("a form of a provider", () => {
  it("is read as multipart, whatever is in it", () => {
    const mime = "Subject: a\r\n\r\n--b is no delimiter\r\n";
    const body = multipart(
      'name="token"\r\n\r\nt\r\n',
      `name="body-mime"; filename="a"\r\nContent-Type: x\r\n\r\n${mime}\r\n`,
      'name="token"\r\n\r\nanother\r\n',
    );
    expect(textOf(body)).to.deep.equal({ token: "t", "body-mime": mime });
  });

  it("is read url-encoded", () => {
    expect(textOf(Buffer.from("a=1&b=%C3%A4+b&a=2"))).to.deep.equal({ a: "1", b: "ä b" });
  });

  const broken: [string, string][] = [
    ["that is empty", ""],
    ["that is cut off", '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx'],
    ["without names", "--b\r\n\r\nx\r\n--b--"],
    ["whose boundary is endless", `--${"b".repeat(300)}\r\n`],
  ];
  for (const [what, body] of broken)
    it(`${what} has no members`, () => expect(textOf(Buffer.from(body))).to.deep.equal({}));

  it("has at most 100 members", () => {
    const parts = Array.from({ length: 200 }, (_, n) => `name="m${n}"\r\n\r\n${n}\r\n`);
    expect(formMembers(multipart(...parts)).size).to.equal(100);
    expect(formMembers(Buffer.from(parts.map((_, n) => `m${n}=1`).join("&"))).size).to.equal(100);
  });
});
