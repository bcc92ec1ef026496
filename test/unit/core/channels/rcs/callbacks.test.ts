import { expect } from "chai";
import { rcsCallbacks } from "#core/channels/rcs/callbacks.ts";
import { type Progress, progressed as progressedAt } from "#core/domain/messages/progress.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";

const receivedAt = new Date("2026-11-22T12:00:00Z");
const deliveryId = "dlv_01JDKQ4WSM8V5CRA2E9MHX3TNB";

const progressed = (before: Progress, receipts: readonly Receipt[]): Progress =>
  progressedAt(before, receipts, receivedAt);

const read = (members: Record<string, string>): Receipt => {
  const body = Buffer.from(new URLSearchParams({ MessageSid: "SM1", ...members }).toString());
  const callback = { part: `status/${deliveryId}`, url: "", body, contentType: "application/x-www-form-urlencoded" };
  const [receipt] = rcsCallbacks.read({ ...callback, receivedAt }).receipts;
  if (receipt === undefined) throw new Error("no receipt");
  return receipt;
};

const byRcs = { From: "rcs:shop_agent", To: "rcs:+4915112345678" };
const bySms = { From: "+15005550006", To: "+4915112345678" };
const before = { status: "sent", sent_at: receivedAt } as const;

describe("a status of an RCS message", () => {
  it("is one of RCS by its sender", () => {
    const receipt = read({ MessageStatus: "delivered", ...byRcs });
    expect(receipt).to.deep.include({ deliveryId, kind: "delivered", address: "+4915112345678" });
    expect(progressed(before, [receipt]))
      .to.deep.include({ status: "delivered" })
      .and.not.have.property("provider_code");
  });

  it("says that it went by SMS when a number sent it", () => {
    const receipt = read({ MessageStatus: "delivered", ...bySms });
    expect(progressed(before, [receipt])).to.include({ status: "delivered", provider_code: "FALLBACK_SMS" });
  });

  it("says so in whichever order they come", () => {
    const [sent, delivered] = ["sent", "delivered"].map((status) => read({ MessageStatus: status, ...bySms }));
    for (const receipts of [
      [sent, delivered],
      [delivered, sent],
    ] as Receipt[][]) {
      const after = receipts.reduce((row, one) => progressed(row, [one]), progressed(before, []));
      expect(after).to.include({ status: "delivered", provider_code: "FALLBACK_SMS" });
    }
  });

  it("says why it failed, and not how it went", () => {
    const failed = read({ MessageStatus: "undelivered", ErrorCode: "30006", ...bySms });
    const after = progressed(progressed(before, [read({ MessageStatus: "sent", ...bySms })]), [failed]);
    expect(after).to.include({ status: "failed", provider_code: "30006" });
  });
});
