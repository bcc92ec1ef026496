import { expect } from "chai";
import { bounceAddress, bounceSigner } from "#core/channels/email/bounce-address.ts";
import { bounceMail } from "#core/channels/email/callbacks/bounce-mail.ts";
import type { CallbackRequest } from "#core/channels/kit/callbacks.ts";
import { derivedId } from "#core/domain/ids.ts";

const bounces = { domain: "bounces.shop.test", password: "correct horse" };
const { sign } = bounceSigner(bounces);
const deliveryId = derivedId("delivery", "1");
const address = bounceAddress("bounce", { ...bounces, sign }, deliveryId);
const receivedAt = new Date("2026-05-01T10:00:00Z");

const lines = (...text: string[]): string => text.join("\r\n");
const login = `Basic ${Buffer.from("bounce:correct horse").toString("base64")}`;

const request = (mail: string, of: Partial<CallbackRequest> & { authorization?: string } = {}): CallbackRequest => ({
  method: "POST",
  part: "",
  url: "https://api.test/ingress/mail/app_1",
  header: (name) => (name === "authorization" ? (of.authorization ?? login) : null),
  body: Buffer.from(mail),
  ...of,
});
const verdictOf = (given: CallbackRequest, account: { bounces: typeof bounces | null } = { bounces }) =>
  bounceMail.verify(given, { account, now: receivedAt }).kind;
const receiptsOf = (mail: string) =>
  bounceMail.read({ part: "", url: "", contentType: "", receivedAt, body: Buffer.from(mail) }).receipts;

/** As Postfix writes it: RFC 3464 in three parts. */
const statusMail = (recipient: string[], to = address): string =>
  lines(
    "Return-Path: <>",
    `Delivered-To: ${to}`,
    "From: MAILER-DAEMON@mx.shop.test (Mail Delivery System)",
    `To: ${to}`,
    "Subject: Undelivered Mail Returned to Sender",
    "MIME-Version: 1.0",
    "Content-Type: multipart/report; report-type=delivery-status;",
    '\tboundary="8A1.1/mx"',
    "",
    "This is a MIME-encapsulated message.",
    "",
    "--8A1.1/mx",
    "Content-Description: Notification",
    "Content-Type: text/plain; charset=us-ascii",
    "",
    "Action: this is text for people",
    "",
    "--8A1.1/mx",
    "Content-Description: Delivery report",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.shop.test",
    "Arrival-Date: Fri,  1 May 2026 09:00:00 +0000 (UTC)",
    "",
    ...recipient,
    "",
    "--8A1.1/mx",
    "Content-Type: message/rfc822",
    "",
    "Action: delivered",
    "--8A1.1/mx--",
    "",
  );

const failed = (status: string, diagnostic: string): string[] => [
  "Final-Recipient: rfc822; ann@example.test",
  "Action: failed",
  `Status: ${status}`,
  `Diagnostic-Code: smtp; ${diagnostic}`,
];

const feedbackMail = (type: string): string =>
  lines(
    "From: fbl@provider.test",
    "To: fbl@bounces.shop.test",
    'Content-Type: multipart/report; report-type="feedback-report"; boundary=b',
    "",
    "--b",
    "Content-Type: message/feedback-report",
    "",
    `Feedback-Type: ${type}`,
    "User-Agent: SomeGenerator/1.0",
    "Version: 1",
    `Original-Mail-From: <${address}>`,
    "",
    "--b--",
  );

describe("a mail that came back", () => {
  describe("is taken from the mail server alone", () => {
    const mail = statusMail(failed("5.1.1", "550 5.1.1 user unknown"));

    it("that knows the password", () => expect(verdictOf(request(mail))).to.equal("queued"));

    for (const [name, authorization] of Object.entries({
      "no password": "",
      "another password": `Basic ${Buffer.from("bounce:wrong").toString("base64")}`,
      "another name": `Basic ${Buffer.from("ann:correct horse").toString("base64")}`,
      "another scheme": "Bearer correct horse",
    }))
      it(`and refused with ${name}`, () => expect(verdictOf(request(mail, { authorization }))).to.equal("refused"));

    it("and does not exist elsewhere", () => {
      expect(verdictOf(request(mail, { method: "GET" }))).to.equal("unknown");
      expect(verdictOf(request(mail, { part: "status" }))).to.equal("unknown");
      expect(verdictOf(request(mail), { bounces: null })).to.equal("unknown");
    });
  });

  describe("is taken and dropped", () => {
    for (const [name, mail] of Object.entries({
      "when it is about no mail of ours": statusMail(failed("5.1.1", "550 5.1.1"), "news@bounces.shop.test"),
      "when its address is made up": statusMail(
        failed("5.1.1", "550 5.1.1"),
        address.replace(/.{30}@/, `${"0".repeat(30)}@`),
      ),
      "when it is empty": "",
    }))
      it(name, () => expect(verdictOf(request(mail))).to.equal("answered"));
  });

  describe("says that its delivery failed", () => {
    const about = { deliveryId, providerId: null, address: null };
    for (const { status, says, expected } of [
      {
        status: "5.1.1",
        says: "550 5.1.1 <ann@example.test>: user unknown",
        expected: { kind: "bounced", type: "hard", code: "HARD_BOUNCE", providerCode: "550 5.1.1" },
      },
      {
        status: "5.1.2",
        says: "no such domain",
        expected: { kind: "bounced", type: "hard", code: "HARD_BOUNCE", providerCode: "5.1.2" },
      },
      {
        status: "5.2.1",
        says: "550 mailbox disabled",
        expected: { kind: "bounced", type: "hard", code: "HARD_BOUNCE" },
      },
      {
        status: "5.2.1",
        says: "450 receiving mail at a rate too quick",
        expected: { kind: "bounced", type: "soft", code: "SOFT_BOUNCE" },
      },
      {
        status: "5.0.0",
        says: "550 no such user here",
        expected: { kind: "bounced", type: "hard", code: "HARD_BOUNCE" },
      },
      {
        status: "5.0.0",
        says: "554 transaction failed",
        expected: { kind: "bounced", type: "soft", code: "SOFT_BOUNCE" },
      },
      {
        status: "5.1.1",
        says: "550 5.1.1 your IP is on a blacklist",
        expected: { kind: "bounced", type: "soft", code: "SOFT_BOUNCE" },
      },
      {
        status: "5.1.1",
        says: "550 5.1.1 sender rejected",
        expected: { kind: "bounced", type: "soft", code: "SOFT_BOUNCE" },
      },
      {
        status: "5.2.2",
        says: "552 5.2.2 over quota",
        expected: { kind: "bounced", type: "soft", code: "MAILBOX_FULL" },
      },
      { status: "5.3.4", says: "552 too big", expected: { kind: "errored", code: "PAYLOAD_TOO_LARGE" } },
      { status: "5.6.0", says: "554 bad content", expected: { kind: "errored", code: "CONTENT_BLOCKED" } },
      { status: "5.7.1", says: "554 5.7.1 looks like spam", expected: { kind: "errored", code: "SPAM_REJECTED" } },
      {
        status: "4.4.7",
        says: "delivery time expired",
        expected: { kind: "bounced", type: "soft", code: "SOFT_BOUNCE", providerCode: "4.4.7" },
      },
    ])
      it(`${expected.kind} as ${expected.code}, with ${status} ${says}`, () => {
        const [receipt, ...more] = receiptsOf(statusMail(failed(status, says)));
        expect(more).to.deep.equal([]);
        expect(receipt).to.include({ ...about, ...expected });
        expect(JSON.stringify(receipt)).not.to.contain("ann@");
      });

    it("when it was tried last, and never in the future", () => {
      const last = (text: string) => [...failed("5.1.1", "550 5.1.1"), `Last-Attempt-Date: ${text}`];
      const at = (text: string) => receiptsOf(statusMail(last(text)))[0]?.at.toISOString();
      expect(at("Fri, 1 May 2026 09:30:00 +0000")).to.equal("2026-05-01T09:30:00.000Z");
      expect(at("Fri, 1 May 2099 09:30:00 +0000")).to.equal(receivedAt.toISOString());
      expect(at("yesterday")).to.equal(receivedAt.toISOString());
    });
  });

  it("says that it was delivered", () => {
    expect(receiptsOf(statusMail(["Action: delivered", "Status: 2.0.0"]))).to.have.nested.property(
      "[0].kind",
      "delivered",
    );
  });

  for (const { it: name, mail } of [
    { it: "its delivery is delayed", mail: statusMail(["Action: delayed", "Status: 4.4.1"]) },
    { it: "it was passed on to what says no more", mail: statusMail(["Action: relayed", "Status: 2.0.0"]) },
    { it: "it has no recipient", mail: statusMail([]) },
    { it: "somebody is on holiday", mail: lines(`To: ${address}`, "Subject: Away", "", "Back on Monday.") },
    { it: "it is no complaint", mail: feedbackMail("not-spam") },
    { it: "its parts are missing", mail: statusMail([]).replace(/--8A1[\s\S]*/, "") },
    { it: "it names no boundary", mail: statusMail(failed("5.1.1", "550")).replace(/boundary=\S+/, "") },
  ])
    it(`says nothing when ${name}`, () => expect(receiptsOf(mail)).to.deep.equal([]));

  for (const type of ["abuse", "fraud", "Other", "virus"])
    it(`says that somebody complained: ${type}`, () => {
      const mail = feedbackMail(type);
      expect(verdictOf(request(mail))).to.equal("queued");
      expect(receiptsOf(mail)[0]).to.include({ deliveryId, kind: "complained", source: "provider" });
    });

  it("says that somebody wants no more, when it is to the address for that", () => {
    const to = bounceAddress("unsubscribe", { ...bounces, sign }, deliveryId);
    const mail = lines(`To: ${to}`, "From: ann@example.test", "", "");
    expect(verdictOf(request(mail))).to.equal("queued");
    expect(receiptsOf(mail)[0]).to.include({ deliveryId, kind: "unsubscribed", source: "link", categories: null });
  });

  it("takes time in proportion to hostile input", () => {
    const head = `To: ${address}\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n`;
    const before = process.threadCpuUsage();
    for (const piece of [
      "--b\r\n",
      "\r\n\r\n",
      "a: b\r\n",
      "\r\n ",
      "--b\r\nContent-Type: message/delivery-status\r\n\r\n",
      "bounce+",
      "; boundary",
    ])
      receiptsOf(head + piece.repeat(Math.ceil(1_000_000 / piece.length)));
    const { user, system } = process.threadCpuUsage(before);
    expect(user + system, "µs").to.be.lessThan(5_000_000);
  });
});
