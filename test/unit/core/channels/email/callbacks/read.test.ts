import { expect } from "chai";
import { mailgun } from "#core/channels/email/callbacks/mailgun.ts";
import { postmark } from "#core/channels/email/callbacks/postmark.ts";
import { sendgrid } from "#core/channels/email/callbacks/sendgrid.ts";
import { ses } from "#core/channels/email/callbacks/ses.ts";
import { type Callback, type CallbackContent, UnreadableCallback } from "#core/channels/kit/callbacks.ts";
import { snsTopic } from "../../../../../support/callbacks/signed.ts";
import { at, type Case, deliveryId } from "./cases.ts";
import { mailgunCases } from "./mailgun-cases.ts";
import { postmarkCases } from "./postmark-cases.ts";
import { sendgridCases } from "./sendgrid-cases.ts";
import { sesCases } from "./ses-cases.ts";

const topic = snsTopic("arn:aws:sns:eu-central-1:123456789012:mails");

type Read = (callback: Callback) => CallbackContent;
const read = (definition: { read: Read }, body: string) =>
  definition.read({
    part: "",
    url: "",
    contentType: "application/json",
    receivedAt: new Date(at),
    body: Buffer.from(body),
  });

const providers: { name: string; read: (event: object) => CallbackContent; cases: Case[] }[] = [
  {
    name: "Amazon SES",
    read: (event) => read(ses, topic.notification(event, new Date(at)).body),
    cases: sesCases,
  },
  {
    name: "SendGrid",
    read: (event) => read(sendgrid, JSON.stringify([event])),
    cases: sendgridCases,
  },
  {
    name: "Mailgun",
    read: (event) => read(mailgun, JSON.stringify({ "event-data": event })),
    cases: mailgunCases,
  },
  {
    name: "Postmark",
    read: (event) => read(postmark, JSON.stringify(event)),
    cases: postmarkCases,
  },
];

const inWords = ({ receipts }: CallbackContent): string | null => {
  const [receipt] = receipts;
  if (receipt === undefined) return null;
  const said = [receipt.kind, "type" in receipt ? receipt.type : "", "code" in receipt ? receipt.code : ""];
  return [...said, "machine" in receipt && receipt.machine ? "by a machine" : ""]
    .filter((word) => word !== "")
    .join(" ");
};

for (const provider of providers) {
  describe(`an event of ${provider.name}`, () => {
    for (const { it: name, event, expect: wanted } of provider.cases) {
      it(name, () => {
        const content = provider.read(event);
        expect(inWords(content)).to.equal(wanted);
        for (const receipt of content.receipts)
          expect(receipt).to.deep.include({ deliveryId, address: "ada@example.com", at: new Date(at) });
      });
    }

    it("that is not ours names no delivery", () => {
      const [first] = provider.cases.filter(({ expect: wanted }) => wanted === "delivered");
      const others = JSON.parse(JSON.stringify(first?.event).replaceAll(deliveryId, "order-4711")) as object;
      expect(provider.read(others).receipts[0]).to.include({ deliveryId: null });
    });
  });
}

describe("a callback that is not as documented", () => {
  for (const [name, definition] of Object.entries({ ses, sendgrid, mailgun, postmark }))
    it(`cannot be read: ${name}`, () => {
      for (const body of ["", "{}", "null", '"x"', "\u0000"])
        expect(() => read(definition, body)).to.throw(UnreadableCallback);
    });

  it("has no receipts of events without an instant", () => {
    expect(
      read(sendgrid, '[{"event":"delivered"},{"event":"delivered","timestamp":"x"},7,null]').receipts,
    ).to.deep.equal([]);
  });
});
