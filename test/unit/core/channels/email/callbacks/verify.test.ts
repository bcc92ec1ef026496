import { expect } from "chai";
import { mailgun } from "#core/channels/email/callbacks/mailgun.ts";
import { postmark } from "#core/channels/email/callbacks/postmark.ts";
import { sendgrid } from "#core/channels/email/callbacks/sendgrid.ts";
import { ses } from "#core/channels/email/callbacks/ses.ts";
import { authoritiesOf } from "#core/channels/kit/authorities.ts";
import type { CallbackRequest, Verdict } from "#core/channels/kit/callbacks.ts";
import {
  type Signed,
  sendgridKeys,
  signedMailgun,
  signedPostmark,
  snsAuthority,
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
const trusted = authoritiesOf([snsAuthority.cert]);
const login = { username: "herald", password: "s3cret" };

/** As an apiserver that has the certificate. */
const verifySes = (request: CallbackRequest, pem = topic.certificate): Verdict["kind"] => {
  const { kind } = ses.verify(request, { account: { ses: { topic_arn: topicArn } }, now });
  return kind === "queued" && ses.certified?.problemOf(request.body, { pem, trusted }) !== null ? "refused" : kind;
};

type Verify = (request: CallbackRequest) => Verdict["kind"];
type Sign = (at?: Date) => Signed;

const providers: { name: string; verify: Verify; sign: Sign; forged: Sign; tooOld: Date | null }[] = [
  {
    name: "Amazon SES",
    verify: (request) => verifySes(request),
    sign: (at = now) => topic.notification({ eventType: "Send" }, at),
    forged: () => snsTopic(topicArn).notification({ eventType: "Send" }, now),
    tooOld: hoursAgo(3),
  },
  {
    name: "SendGrid",
    verify: (request) => sendgrid.verify(request, { account: { sendgrid: { public_key: keys.publicKey } }, now }).kind,
    sign: (at = now) => keys.signed([{ event: "delivered" }], at),
    forged: () => otherKeys.signed([{ event: "delivered" }], now),
    tooOld: hoursAgo(26),
  },
  {
    name: "Mailgun",
    verify: (request) => mailgun.verify(request, { account: { mailgun: { signing_key: "key-1" } }, now }).kind,
    sign: (at = now) => signedMailgun({ event: "delivered" }, { key: "key-1", now: at }),
    forged: () => signedMailgun({ event: "delivered" }, { key: "key-2", now }),
    tooOld: hoursAgo(10),
  },
  {
    name: "Postmark",
    verify: (request) => postmark.verify(request, { account: { postmark: login }, now }).kind,
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

  it("is the body, at SendGrid", () => {
    expect(providers[1]?.verify(requestOf(altered(keys.signed([{ event: "delivered" }], now))))).to.equal("refused");
  });

  it("is no event at Mailgun, so that it says the signature", () => {
    const request = requestOf(signedMailgun({ event: "delivered" }, { key: "key-1", now }));
    const verdict = mailgun.verify(request, { account: { mailgun: { signing_key: "key-1" } }, now });
    const { signature } = JSON.parse(request.body.toString()) as { signature: Record<string, string> };
    const once = { signature: signature["signature"], until: hoursAgo(-9) };
    expect(verdict).to.deep.include({ kind: "queued", once });
  });

  it("is each member of a message of SNS", () => {
    const signed = topic.notification({ eventType: "Send" }, now);
    for (const body of [signed.body.replace("Send", "Open"), signed.body.replace('"MessageId":"', '"MessageId":"x')])
      expect(verifySes(requestOf({ ...signed, body }))).to.equal("refused");
  });

  it("may be made with SHA-1 at Amazon, as topics are set up at first", () => {
    expect(verifySes(requestOf(topic.notification({ eventType: "Send" }, now, "1")))).to.equal("queued");
  });
});

describe("the topic of an account", () => {
  it("is the only one that is listened to, as everybody can have Amazon sign", () => {
    const request = requestOf(otherTopic.notification({ eventType: "Send" }, now));
    expect(verifySes(request, otherTopic.certificate)).to.equal("refused");
  });

  it("names a certificate of Amazon SNS in its region", () => {
    const { body } = requestOf(topic.notification({}, now));
    expect(ses.certified?.addressOf(body)).to.equal(topic.certificateUrl);
  });

  const pem = "SimpleNotificationService-0123456789abcdef0123456789abcdef.pem";
  for (const url of [
    `http://sns.eu-central-1.amazonaws.com/${pem}`,
    `https://sns.eu-central-1.amazonaws.com.example.com/${pem}`,
    `https://example.com/sns.eu-central-1.amazonaws.com/${pem}`,
    `https://user@sns.eu-central-1.amazonaws.com/${pem}`,
    `https://sns.eu-central-1.amazonaws.com:8443/${pem}`,
    `https://sns.us-east-1.amazonaws.com/${pem}`,
    `https://s3.amazonaws.com/${pem}`,
    `https://sns.eu-central-1.amazonaws.com/${pem}?Action=GetTopicAttributes`,
    `https://sns.eu-central-1.amazonaws.com/${pem}#x`,
    `https://sns.eu-central-1.amazonaws.com/x/${pem}`,
    "https://sns.eu-central-1.amazonaws.com/?Action=Publish&Message=-----BEGIN+CERTIFICATE-----",
    "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123.pem",
    "none",
  ]) {
    it(`names none at ${url}`, () => {
      const { body, headers } = topic.notification({ eventType: "Send" }, now);
      const request = requestOf({ headers, body: body.replace(topic.certificateUrl, url) });
      expect(ses.certified?.addressOf(request.body)).to.equal(null);
      expect(verifySes(request)).to.equal("refused");
    });
  }

  it("is confirmed at Amazon SNS of its region alone", () => {
    const read = (url: string) =>
      ses.read({ ...requestOf(topic.confirmation(url, now)), contentType: "text/plain", receivedAt: now });
    const theirs = "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=t0k3n";
    expect(read(theirs)).to.deep.equal({ receipts: [], inbound: [], confirm: theirs });
    for (const url of [
      "https://example.com/",
      theirs.replace("eu-central-1", "us-east-1"),
      theirs.replace("ConfirmSubscription", "DeleteTopic"),
      theirs.replace(".com/", ".com:8443/"),
    ])
      expect(read(url)).to.not.have.property("confirm");
  });
});

describe("an account without callbacks of a provider", () => {
  it("knows none", () => {
    const nothing = { now };
    const request = requestOf({ headers: {}, body: "{}" });
    expect(ses.verify(request, { ...nothing, account: { ses: null } }).kind).to.equal("unknown");
    expect(sendgrid.verify(request, { ...nothing, account: { sendgrid: null } }).kind).to.equal("unknown");
    expect(mailgun.verify(request, { ...nothing, account: { mailgun: null } }).kind).to.equal("unknown");
    expect(postmark.verify(request, { ...nothing, account: { postmark: null } }).kind).to.equal("unknown");
  });
});
