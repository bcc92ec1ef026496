import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { followUp } from "../../../../dispatcher/messages/follow-up.ts";
import { aChunk, aLease, aMessage, handClock, noon } from "../../../support/rows/work.ts";

const aDelivery = (over: Partial<DeliveryRow>): DeliveryRow => ({
  _id: "dlv_1",
  message_id: "msg_1",
  tenant_id: "ten_1",
  app_id: "app_1",
  subscription_id: "sub_1",
  user_id: "usr_1",
  external_id: "ada",
  channel: "email",
  address_masked: "a•••@example.com",
  status: "failed",
  position: "0",
  provider_code: "550 5.1.1",
  attempts: 1,
  created_at: noon,
  updated_at: noon,
  ...over,
});

/** The events that follow from one delivery. */
const eventsOf = async (row: DeliveryRow, ofReplies: EventEnvelope[] = []): Promise<EventEnvelope[]> => {
  const published: EventEnvelope[] = [];
  const follow = followUp({
    chunks: { keep: async () => undefined, recipientsOfRetries: async () => [] },
    keepLater: async () => undefined,
    subscriptions: { invalidate: async () => undefined },
    moveSessions: async () => undefined,
    repliesFailed: async () => ofReplies,
    suppress: async () => undefined,
    events: {
      publish: async (_tenant, events) => {
        published.push(...events);
        return true;
      },
    },
    clock: handClock(),
  });
  const delivered = { stored: [row], fresh: [row], again: [], invalid: [], doubted: 0, halted: false };
  await follow({ chunk: aChunk(), message: aMessage() }, delivered, aLease());
  return published;
};

describe("the events of a delivery", () => {
  const cases: { it: string; row: Partial<DeliveryRow>; expect: string[] }[] = [
    { it: "tell that it was sent", row: { status: "sent", sent_at: noon }, expect: ["delivery.sent"] },
    {
      it: "tell that it was sent when a receipt has moved it since, and leave the rest to the receipt",
      row: { status: "bounced", sent_at: noon, bounce_type: "hard", error_code: "HARD_BOUNCE" },
      expect: ["delivery.sent"],
    },
    { it: "tell that it failed", row: { error_code: "MAILBOX_FULL" }, expect: ["delivery.failed"] },
    {
      it: "tell of a hard bounce besides the failure",
      row: { error_code: "HARD_BOUNCE", bounce_type: "hard" },
      expect: ["delivery.failed", "delivery.bounced"],
    },
    {
      it: "tell of a soft bounce when the mail expired",
      row: { status: "expired", error_code: "EXPIRED", bounce_type: "soft" },
      expect: ["delivery.bounced"],
    },
    { it: "are none when it was suppressed", row: { status: "suppressed" }, expect: [] },
  ];
  it("name the campaign of the message, null without one", async () => {
    for (const campaign_id of ["spring", undefined]) {
      const row = aDelivery({ status: "sent", sent_at: noon, ...(campaign_id && { campaign_id }) });
      const [event] = await eventsOf(row);
      expect(event?.data).to.include({ campaign_id: campaign_id ?? null });
    }
  });
  for (const { it: name, row, expect: wanted } of cases) {
    it(name, async () => {
      const events = await eventsOf(aDelivery(row));
      expect(events.map(({ type }) => type)).to.deep.equal(wanted);
      for (const { type, data } of events) parser(eventTypes[type].data)(data);
      expect(new Set(events.map(({ id }) => id)).size).to.equal(wanted.length);
    });
  }

  it("say which kind of bounce it was, and what the server said", async () => {
    const [, bounced] = await eventsOf(aDelivery({ error_code: "HARD_BOUNCE", bounce_type: "hard" }));
    expect(bounced?.data).to.include({ bounce_type: "hard", provider_code: "550 5.1.1", external_id: "ada" });
  });

  it("are told with those of replies in conversations that failed", async () => {
    const failed = makeEvent({
      kind: "event.received",
      appId: "app_1",
      subjectId: "usr_1",
      at: noon,
      from: ["a"],
      data: { name: "hs.conversation.message_failed" },
    });
    expect((await eventsOf(aDelivery({}), [failed])).map(({ type }) => type)).to.deep.equal([
      "delivery.failed",
      "event.received",
    ]);
  });
});

const whyOf = (receipt: Receipt): string =>
  "suppress" in receipt ? `${receipt.kind} ${receipt.suppress}` : receipt.kind;

describe("addresses that bounce", () => {
  const suppressedBy = async (row: DeliveryRow, isBelieved: boolean): Promise<string[]> => {
    const suppressed: string[] = [];
    const follow = followUp({
      chunks: { keep: async () => undefined, recipientsOfRetries: async () => [] },
      keepLater: async () => undefined,
      subscriptions: { invalidate: async () => undefined },
      moveSessions: async () => undefined,
      repliesFailed: async () => [],
      suppress: async (all) => void suppressed.push(...all.map(({ receipt }) => whyOf(receipt))),
      events: { publish: async () => true },
      clock: handClock(),
    });
    const invalid = isBelieved ? [{ _id: row.subscription_id, token: "a@example.com", since: noon }] : [];
    const delivered = { stored: [row], fresh: [row], again: [], invalid, doubted: 0, halted: false };
    await follow({ chunk: aChunk(), message: aMessage() }, delivered, aLease());
    return suppressed;
  };
  const hard = aDelivery({ error_code: "HARD_BOUNCE", bounce_type: "hard" });

  it("are suppressed", async () => {
    expect(await suppressedBy(hard, true)).to.deep.equal(["bounced"]);
    expect(await suppressedBy(aDelivery({ status: "expired", bounce_type: "soft" }), false)).to.deep.equal(["bounced"]);
  });

  it("are not suppressed when too many of an account are called gone to be believed", async () => {
    expect(await suppressedBy(hard, false)).to.deep.equal([]);
  });

  it("are suppressed for good when their owner has opted out, as the provider says", async () => {
    const optedOut = { channel: "sms", error_code: "RECIPIENT_OPTED_OUT", provider_code: "21610" } as const;
    expect(await suppressedBy(aDelivery(optedOut), false)).to.deep.equal(["failed unsubscribe"]);
    const blocked = { ...optedOut, provider_code: "63014" };
    expect(await suppressedBy(aDelivery(blocked), false)).to.deep.equal(["failed carrier_opt_out"]);
    const ofMarketing = { ...optedOut, channel: "whatsapp", provider_code: "131050" } as const;
    expect(await suppressedBy(aDelivery(ofMarketing), false)).to.deep.equal([]);
    expect(await suppressedBy(aDelivery({ error_code: "RECIPIENT_UNREACHABLE" }), false)).to.deep.equal([]);
  });

  it("are none when nothing bounced", async () => {
    expect(await suppressedBy(aDelivery({ status: "sent" }), true)).to.deep.equal([]);
  });
});

describe("whom to try again", () => {
  const keptBy = async (isLost: boolean): Promise<string[]> => {
    const kept: string[] = [];
    const follow = followUp({
      chunks: {
        keep: async (chunks) => void kept.push(...chunks.flatMap(({ recipients }) => recipients)),
        recipientsOfRetries: async () => [],
      },
      keepLater: async () => undefined,
      subscriptions: { invalidate: async () => undefined },
      moveSessions: async () => undefined,
      repliesFailed: async () => [],
      suppress: async () => undefined,
      events: { publish: async () => true },
      clock: handClock(),
    });
    const again = [{ subscriptionId: "sub_1", at: noon, mayHaveArrived: false }];
    const delivered = { stored: [], fresh: [], again, invalid: [], doubted: 0, halted: false };
    await follow({ chunk: aChunk(), message: aMessage() }, delivered, aLease({ isLost: () => isLost }));
    return kept;
  };

  it("is kept for later", async () => {
    expect(await keptBy(false)).to.deep.equal(["sub_1"]);
  });

  it("is left to who took over when the lease was lost: they try them too", async () => {
    expect(await keptBy(true)).to.deep.equal([]);
  });
});
