import { expect } from "chai";
import { countsBetween, type Progress, progressed } from "#core/domain/messages/progress.ts";
import type { Attempted, Receipt, ReceiptFact } from "#core/domain/messages/receipts.ts";
import { isAhead, mostResends } from "#core/domain/messages/resends.ts";

const minute = 60_000;
const at = (minutes: number): Date => new Date(Date.UTC(2026, 10, 24, 12) + minutes * minute);
const receipt = (providerId: string | null, fact: ReceiptFact, minutes = 1): Receipt => ({
  deliveryId: "dlv_1",
  providerId,
  address: null,
  at: at(minutes),
  ...fact,
});
const away = { kind: "failed", code: "RECIPIENT_UNREACHABLE", providerCode: "30003", reason: "away" } as const;
const forNow = (id: string, minutes = 1): Receipt => receipt(id, { ...away, isPassing: true }, minutes);
const delivered = (id: string): Receipt => receipt(id, { kind: "delivered" }, 3);
const answer = (attempts: number, id: string | null, fact: ReceiptFact = { kind: "sent" }, minutes = 11): Receipt => ({
  ...receipt(id, fact, minutes),
  attempt: { attempts, provider: "twilio", address_masked: "+49•••1" } satisfies Attempted,
});

const sent: Progress = {
  status: "sent",
  sent_at: at(0),
  provider_message_id: "one",
  attempts: 1,
  resend_until: at(1_000),
};
const after = (before: Progress, ...receipts: Receipt[]): Progress =>
  receipts.reduce((row, one) => progressed(row, [one], at(1)), before);

describe("a delivery that failed for now", () => {
  it("waits to be sent again, and counts as sent and not as failed", () => {
    const waiting = after(sent, forNow("one"));
    expect(waiting).to.include({ status: "scheduled", error_code: "RECIPIENT_UNREACHABLE", provider_code: "30003" });
    expect(waiting.scheduled_for).to.deep.equal(at(11));
    expect(countsBetween(sent, waiting)).to.deep.equal({});
  });

  it("is sent again by an answer, and is as it was then", () => {
    const again = after(sent, forNow("one"), answer(2, "two"));
    const { attempts, provider, address_masked } = { attempts: 2, provider: "twilio", address_masked: "+49•••1" };
    expect(again).to.deep.equal({
      ...sent,
      attempts,
      provider,
      address_masked,
      provider_message_id: "two",
      earlier_message_ids: ["one"],
    });
  });

  it("waits longer each time, and fails after as many times as are named", () => {
    let row = sent;
    const pauses: number[] = [];
    for (let n = 0; n < mostResends; n++) {
      row = progressed(row, [forNow(String(n))], at(1));
      pauses.push(((row.scheduled_for?.getTime() ?? 0) - at(1).getTime()) / minute);
      row = progressed(row, [answer(n + 2, String(n + 1))], at(1));
    }
    expect(pauses).to.deep.equal([10, 60, 360]);
    row = progressed(row, [forNow(String(mostResends))], at(1));
    expect(row).to.include({ status: "failed" }).and.not.have.property("scheduled_for");
  });

  const stays: { it: string; before: Progress; receipts: Receipt[]; status: Progress["status"] }[] = [
    {
      it: "fails where its ttl ends before",
      before: { ...sent, resend_until: at(5) },
      receipts: [forNow("one")],
      status: "failed",
    },
    {
      it: "fails where its time was not kept, as in rows of an earlier release",
      before: { status: "sent", sent_at: at(0) },
      receipts: [forNow("one")],
      status: "failed",
    },
    {
      it: "is delivered where an earlier attempt was",
      before: sent,
      receipts: [forNow("one"), delivered("one")],
      status: "delivered",
    },
    {
      it: "waits no more when it is known to be delivered",
      before: sent,
      receipts: [delivered("one"), forNow("one")],
      status: "delivered",
    },
    {
      it: "waits once when it is told again",
      before: sent,
      receipts: [forNow("one"), forNow("one", 2)],
      status: "scheduled",
    },
    {
      it: "does not wait for what its first attempt is said to have come to after its second began",
      before: sent,
      receipts: [forNow("one"), answer(2, "two"), forNow("one", 12)],
      status: "sent",
    },
    {
      it: "is not what its first attempt failed as, after its second, whose answer was lost",
      before: sent,
      receipts: [forNow("one"), answer(2, null), receipt("one", { ...away, kind: "errored" }, 13)],
      status: "sent",
    },
    {
      it: "is delivered by its first attempt after its second has failed for good",
      before: sent,
      receipts: [forNow("one"), answer(2, "two"), receipt("two", away, 12), delivered("one")],
      status: "delivered",
    },
    { it: "fails when it is given up", before: sent, receipts: [forNow("one"), receipt(null, away)], status: "failed" },
    {
      it: "fails as a further attempt was refused",
      before: sent,
      receipts: [forNow("one"), answer(2, null, { ...away, code: "RECIPIENT_OPTED_OUT" })],
      status: "failed",
    },
    {
      it: "stays delivered when the answer of a further attempt comes late",
      before: sent,
      receipts: [forNow("one"), delivered("one"), answer(2, "two")],
      status: "delivered",
    },
  ];
  for (const { it: name, before, receipts, status } of stays) {
    it(name, () => {
      const row = after(before, ...receipts);
      expect(row.status).to.equal(status);
      expect(after(row, ...receipts).status, "when all come again").to.equal(status);
    });
  }

  it("knows an answer once", () => {
    const again = after(sent, forNow("one"), answer(2, "two"));
    expect(after(again, answer(2, "two"))).to.deep.equal(again);
  });

  it("is not there for a receipt of an attempt whose answer is not stored", () => {
    const waiting = after(sent, forNow("one"));
    expect(isAhead(waiting, delivered("two"))).to.equal(true);
    for (const one of [delivered("one"), receipt(null, { kind: "delivered" }), answer(2, "two")])
      expect(isAhead(waiting, one)).to.equal(false);
    expect(isAhead(after(waiting, answer(2, "two")), delivered("three"))).to.equal(false);
  });
});
