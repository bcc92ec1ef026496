import { expect } from "chai";
import { personMail } from "../../../../dispatcher/mail/message.ts";
import type { ReadMail } from "../../../../dispatcher/mail/worker.ts";
import { noon } from "../../../support/rows/work.ts";

const aMail = (over: Partial<ReadMail> = {}): ReadMail => ({
  from: { address: "Ann@Example.test", name: "Ann" },
  to: ["help@shop.test"],
  cc: [],
  subject: "Colours",
  messageId: "<1@example.test>",
  inReplyTo: null,
  references: [],
  date: new Date(noon.getTime() - 60_000),
  text: "Red?",
  html: null,
  files: [],
  headers: new Map(),
  ...over,
});
const given = (over: Partial<ReadMail> = {}) =>
  personMail(aMail(over), { mime: Buffer.from("x"), own: "Shop@shop.test", receivedAt: noon });
const read = (over: Partial<ReadMail> = {}) => {
  const mail = given(over);
  return typeof mail === "string" ? expect.fail(mail) : mail;
};

describe("a mail to an app", () => {
  it("is a person's, to the address of the app's domain", () => {
    expect(read()).to.deep.include({
      id: "1@example.test",
      address: "ann@example.test",
      name: "Ann",
      sender: "help@shop.test",
      text: "Red?",
      references: [],
      replyTo: null,
    });
  });

  it("came to the address that the app sends from, when it names none of its domain", () => {
    expect(read({ to: ["list@example.test"] }).sender).to.equal("shop@shop.test");
    expect(read({ to: ["help@shop.test", "SHOP@shop.test"] }).sender).to.equal("shop@shop.test");
  });

  it("says who else got it, twenty at most", () => {
    const many = Array.from({ length: 30 }, (_, n) => `eve${n}@example.test`);
    expect(read({ cc: ["Eve@Example.test", " adam@example.test ", "no address"] }).cc).to.deep.equal([
      "eve@example.test",
      "adam@example.test",
    ]);
    expect(read({ cc: many }).cc).to.deep.equal(many.slice(0, 20));
  });

  it("names those before it, the first of the thread first", () => {
    const mail = read({ references: ["<a@x>", "<b@x>", "<a@x>", "no id at all"], inReplyTo: "<c@x> (of Monday)" });
    expect(mail.references).to.deep.equal(["a@x", "b@x", "c@x"]);
    expect(mail.replyTo).to.equal("c@x");
  });

  it("has an id that follows from what it is, when it names none, or an endless one", () => {
    for (const messageId of [null, "", `<${"a".repeat(254)}@x>`, "<a b@x>", "<\u00e4@x>", "<a\0@x>"])
      expect(read({ messageId }).id).to.match(/^[0-9a-f]{64}@no-message-id$/);
  });

  it("is read from its HTML when it has no text", () => {
    expect(read({ text: null, html: "<p>Red<br>or blue?</p>" }).text).to.equal("Red\nor blue?");
  });

  it("cannot put lines into the head of an answer", () => {
    expect(read({ subject: "Colours\r\nBcc: all@shop.test" }).subject).to.equal("Colours Bcc: all@shop.test");
  });

  it("is believed about its time within a day before it came", () => {
    const of = (date: Date | null) => read({ date }).at;
    expect(of(new Date(noon.getTime() - 3_600_000))).to.deep.equal(new Date(noon.getTime() - 3_600_000));
    for (const date of [new Date(0), new Date(noon.getTime() + 1), new Date(Number.NaN), null])
      expect(of(date)).to.equal(noon);
  });

  const none: [string, Partial<ReadMail>, string][] = [
    ["nobody wrote", { from: null }, "unaddressed"],
    ["somebody wrote whose address is none", { from: { address: "ann", name: "" } }, "unaddressed"],
    ["a program wrote", { headers: new Map([["auto-submitted", "auto-replied"]]) }, "automatic"],
    ["the app wrote itself", { from: { address: "shop@shop.test", name: "" } }, "own"],
    ["is one of ours that came back", { messageId: "<dlv_01JDKQ4WSM2A9WTF5Q0BHM6DYS@shop.test>" }, "own"],
  ];
  for (const [what, over, reason] of none) it(`that ${what} is none`, () => expect(given(over)).to.equal(reason));
});
