import { expect } from "chai";
import { callbacks } from "#core/channels/callbacks.ts";
import { ses } from "#core/channels/email/callbacks/ses.ts";
import { snsTopic } from "../../../../../support/callbacks/signed.ts";
import { noon } from "../../../../../support/rows/work.ts";

const topic = snsTopic("arn:aws:sns:eu-central-1:123456789012:inbound");
const mime = "From: ann@example.test\r\nMessage-ID: <1@example.test>\r\n\r\nGr\u00fcn?\r\n";
/** What SES publishes of a mail that it received. */
const received = (content: string, receipt: object = {}) => ({
  notificationType: "Received",
  mail: { timestamp: noon.toISOString(), messageId: "0100-ses", source: "ann@example.test" },
  receipt: { virusVerdict: { status: "PASS" }, action: { type: "SNS", encoding: "UTF8" }, ...receipt },
  content,
});
const bodyOf = (event: object): Buffer => Buffer.from(topic.notification(event, noon).body);
const mailOf = (event: object): Buffer | null => callbacks["ses"]?.mail?.(bodyOf(event)) ?? null;

describe("a mail that Amazon SES received", () => {
  it("is what it published, as text or in base64", () => {
    expect(mailOf(received(mime))?.toString()).to.equal(mime);
    const bytes = Buffer.from(mime, "latin1"); // 8 bits of another charset
    const encoded = received(bytes.toString("base64"), { action: { type: "SNS", encoding: "BASE64" } });
    expect(mailOf(encoded)?.equals(bytes)).to.equal(true);
  });

  it("is none where there is a virus in it, no content, or another event", () => {
    expect(mailOf(received(mime, { virusVerdict: { status: "FAIL" } }))).to.equal(null);
    expect(mailOf({ ...received(mime), content: undefined })).to.equal(null);
    expect(mailOf({ eventType: "Delivery", content: mime })).to.equal(null);
    expect(callbacks["ses"]?.mail?.(Buffer.from("{}"))).to.equal(null);
    expect(ses.read({ ...request("inbound"), contentType: "text/plain", receivedAt: noon })).to.deep.equal({
      receipts: [],
      inbound: [],
    });
  });

  it("comes to its own part of the address, from the account's topic alone, in time", () => {
    const verify = (part: string, arn = topic.topicArn, now = noon) =>
      ses.verify(request(part), { account: { ses: { topic_arn: arn } }, now }).kind;
    expect(verify("inbound")).to.equal("queued");
    expect(verify("inbound/mime")).to.equal("unknown");
    expect(verify("inbound", `${topic.topicArn}-2`)).to.equal("refused");
    expect(verify("inbound", topic.topicArn, new Date(noon.getTime() + 7 * 86_400_000))).to.equal("refused");
  });

  const request = (part: string) => ({
    method: "POST" as const,
    part,
    url: "",
    header: () => null,
    body: bodyOf(received(mime)),
  });
});
