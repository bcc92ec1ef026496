import { expect } from "chai";
import type { Content } from "#core/schema/messages/notification.ts";
import { gates, openGates } from "../../../../dispatcher/messages/gates/all.ts";
import type { Gate } from "../../../../dispatcher/messages/gates/gate.ts";
import { aChunk, aMessage, aSubscription, handClock, noon } from "../../../support/rows/work.ts";

describe("the gates before a send", () => {
  const recipients = ["sub_1", "sub_2", "sub_3"].map((_id) => aSubscription({ _id }));

  it("are opened once for all recipients, and the first that has a reason gives it", async () => {
    const opened: string[][] = [];
    const knowing: Gate = async (_message, all) => {
      opened.push(all.map(({ _id }) => _id));
      return ({ _id }) => (_id === "sub_2" ? "unsubscribed" : null);
    };
    const strict: Gate =
      () =>
      ({ _id }) =>
        _id === "sub_1" ? null : "not_test_device";
    const check = await openGates([knowing, strict], aMessage(), recipients, aChunk());
    expect(recipients.map(check)).to.deep.equal([null, "unsubscribed", "not_test_device"]);
    expect(opened).to.deep.equal([["sub_1", "sub_2", "sub_3"]]);
  });
});

describe("the session of WhatsApp", () => {
  const minutes = (count: number): Date => new Date(noon.getTime() + count * 60_000);
  const template: Content = { whatsapp_template: { name: "sale", language: "en" } };
  const text: Content = { contents: { en: "Hello" } };
  const decide = async (content: Content, of: Parameters<typeof aSubscription>[0]) => {
    const check = await openGates(
      gates({ newer: async () => new Set(), suppressions: { gate: () => () => null }, clock: handClock() }),
      aMessage({ content }),
      [],
      aChunk(),
    );
    return check(aSubscription({ channel: "whatsapp", ...of }));
  };

  it("lets free text pass while it is open, but for its last minute", async () => {
    expect(await decide(text, { session_expires_at: minutes(2) })).to.equal(null);
    expect(await decide(text, { session_expires_at: minutes(1) })).to.equal("session_closed");
    expect(await decide(text, {})).to.equal("session_closed");
  });

  it("keeps back media and buttons like text, and no template", async () => {
    const media: Content = { whatsapp_media: { type: "image", url: "https://x.test/a.png" } };
    expect(await decide(media, {})).to.equal("session_closed");
    expect(await decide(template, {})).to.equal(null);
  });

  it("is asked of WhatsApp alone", async () => {
    expect(await decide(text, { channel: "ios_push" })).to.equal(null);
  });

  it("is asked after what else keeps a recipient from being sent to", async () => {
    expect(await decide(text, { status: "unsubscribed" })).to.equal("unsubscribed");
  });
});
