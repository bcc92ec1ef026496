import { expect } from "chai";
import { mailgun } from "#core/channels/email/callbacks/mailgun.ts";
import { postmark } from "#core/channels/email/callbacks/postmark.ts";
import { sendgrid } from "#core/channels/email/callbacks/sendgrid.ts";
import { ses } from "#core/channels/email/callbacks/ses.ts";
import type { CallbackRequest, Verdict } from "#core/channels/kit/callbacks.ts";
import {
  type Signed,
  sendgridKeys,
  signedMailgun,
  signedPostmark,
  snsCertificateUrl,
  snsTopic,
} from "../../../../../support/callbacks/signed.ts";

const now = new Date("2026-11-22T12:00:00Z");
const hoursAgo = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);

const requestOf = ({ headers, body }: Signed, over: Partial<CallbackRequest> = {}): CallbackRequest => ({
  method: "POST",
  part: "",
  url: "https://herald.example/ingress/x/app_1",
  header: (name) => headers[name] ?? null,
  body: Buffer.from(body),
  ...over,
});

const topicArn = "arn:aws:sns:eu-central-1:123456789012:mails";
const [keys, otherKeys] = [sendgridKeys(), sendgridKeys()];
const [topic, otherTopic] = [snsTopic(topicArn), snsTopic("arn:aws:sns:eu-central-1:999999999999:mails")];
const login = { username: "herald", password: "s3cret" };

type Verify = (request: CallbackRequest) => Verdict["kind"];
type Sign = (at?: Date) => Signed;

const providers: { name: string; verify: Verify; sign: Sign; forged: Sign; tooOld: Date | null }[] = [
  {
    name: "Amazon SES",
    verify: (request) =>
      ses.verify(request, { account: { ses: { topic_arn: topicArn } }, now, certificate: topic.certificate }).kind,
    sign: (at = now) => topic.notification({ eventType: "Send" }, at),
    forged: () => snsTopic(topicArn).notification({ eventType: "Send" }, now),
    tooOld: hoursAgo(3),
  },
  {
    name: "SendGrid",
    verify: (request) =>
      sendgrid.verify(request, { account: { sendgrid: { public_key: keys.publicKey } }, now, certificate: null }).kind,
    sign: (at = now) => keys.signed([{ event: "delivered" }], at),
    forged: () => otherKeys.signed([{ event: "delivered" }], now),
    tooOld: hoursAgo(26),
  },
  {
    name: "Mailgun",
    verify: (request) =>
      mailgun.verify(request, { account: { mailgun: { signing_key: "key-1" } }, now, certificate: null }).kind,
    sign: (at = now) => signedMailgun({ event: "delivered" }, { key: "key-1", now: at }),
    forged: () => signedMailgun({ event: "delivered" }, { key: "key-2", now }),
    tooOld: hoursAgo(10),
  },
  {
    name: "Postmark",
    verify: (request) => postmark.verify(request, { account: { postmark: login }, now, certificate: null }).kind,
    sign: () => signedPostmark({ RecordType: "Delivery" }, login),
    forged: () => signedPostmark({ RecordType: "Delivery" }, { ...login, password: "s3creT" }),
    tooOld: null, // it tells no instant
  },
];

for (const { name, verify, sign, forged, tooOld } of providers) {
  describe(`a callback of ${name}`, () => {
    it("is taken", () => expect(verify(requestOf(sign()))).to.equal("queued"));
    it("is refused when another signed it", () => expect(verify(requestOf(forged()))).to.equal("refused"));
    it("is refused without a signature", () =>
      expect(verify(requestOf({ headers: {}, body: "{}" }))).to.equal("refused"));
    it("is refused when it is no JSON", () =>
      expect(verify(requestOf({ headers: {}, body: "\u0000" }))).to.equal("refused"));
    it("is unknown in another part, and as a GET", () => {
      expect(verify(requestOf(sign(), { part: "x" }))).to.equal("unknown");
      expect(verify(requestOf(sign(), { method: "GET" }))).to.equal("unknown");
    });
    if (tooOld !== null)
      it("is refused when it is too old, or ahead of us", () => {
        expect(verify(requestOf(sign(tooOld)))).to.equal("refused");
        expect(verify(requestOf(sign(new Date(2 * now.getTime() - tooOld.getTime()))))).to.equal("refused");
      });
  });
}

describe("what a signature covers", () => {
  const altered = ({ headers, body }: Signed): Signed => ({ headers, body: body.replace("delivered", "delivereD") });
  const verifySes = (signed: Signed) => providers[0]?.verify(requestOf(signed));

  it("is the body, at SendGrid", () => {
    expect(providers[1]?.verify(requestOf(altered(keys.signed([{ event: "delivered" }], now))))).to.equal("refused");
  });

  it("is each member of a message of SNS", () => {
    const signed = topic.notification({ eventType: "Send" }, now);
    expect(verifySes({ ...signed, body: signed.body.replace("Send", "Open") })).to.equal("refused");
    expect(verifySes({ ...signed, body: signed.body.replace('"MessageId":"', '"MessageId":"x') })).to.equal("refused");
  });

  it("may be made with SHA-1 at Amazon, as topics are set up at first", () => {
    expect(verifySes(topic.notification({ eventType: "Send" }, now, "1"))).to.equal("queued");
  });
});

describe("the topic of an account", () => {
  const given = { account: { ses: { topic_arn: topicArn } }, now };

  it("is the only one that is listened to, as everybody can have Amazon sign", () => {
    const request = requestOf(otherTopic.notification({ eventType: "Send" }, now));
    expect(ses.verify(request, { ...given, certificate: otherTopic.certificate }).kind).to.equal("refused");
  });

  it("names a certificate of Amazon SNS", () => {
    expect(ses.certificateOf?.(requestOf(topic.notification({}, now)))).to.equal(snsCertificateUrl);
  });

  for (const url of [
    "http://sns.eu-central-1.amazonaws.com/x.pem",
    "https://sns.eu-central-1.amazonaws.com.example.com/x.pem",
    "https://example.com/sns.eu-central-1.amazonaws.com/x.pem",
    "https://user@sns.eu-central-1.amazonaws.com/x.pem",
    "https://sns.eu-central-1.amazonaws.com:8443/x.pem",
    "https://s3.amazonaws.com/x.pem",
    "none",
  ]) {
    it(`names none at ${url}`, () => {
      const { body, headers } = topic.notification({ eventType: "Send" }, now);
      const request = requestOf({ headers, body: body.replace(snsCertificateUrl, url) });
      expect(ses.certificateOf?.(request)).to.equal(null);
      expect(ses.verify(request, { ...given, certificate: topic.certificate }).kind).to.equal("refused");
    });
  }

  it("is confirmed at Amazon alone", () => {
    const read = (url: string) =>
      ses.read({ ...requestOf(topic.confirmation(url, now)), contentType: "text/plain", receivedAt: now });
    const theirs = "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=t0k3n";
    expect(read(theirs)).to.deep.equal({ receipts: [], inbound: [], confirm: theirs });
    expect(read("https://example.com/")).to.not.have.property("confirm");
  });
});

describe("an account without callbacks of a provider", () => {
  it("knows none", () => {
    const nothing = { now, certificate: null };
    const request = requestOf({ headers: {}, body: "{}" });
    expect(ses.verify(request, { ...nothing, account: { ses: null } }).kind).to.equal("unknown");
    expect(sendgrid.verify(request, { ...nothing, account: { sendgrid: null } }).kind).to.equal("unknown");
    expect(mailgun.verify(request, { ...nothing, account: { mailgun: null } }).kind).to.equal("unknown");
    expect(postmark.verify(request, { ...nothing, account: { postmark: null } }).kind).to.equal("unknown");
  });
});
