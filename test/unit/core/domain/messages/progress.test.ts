import { expect } from "chai";
import { countsBetween, isShown, type Progress, progressed as progressedAt } from "#core/domain/messages/progress.ts";
import type { Receipt, ReceiptFact } from "#core/domain/messages/receipts.ts";

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 22, 12, 0, second));
const aReceipt = <Fact extends ReceiptFact>(second: number, fact: Fact) => ({
  deliveryId: "dlv_1",
  providerId: "p-1",
  address: null,
  at: at(second),
  ...fact,
});
const progressed = (before: Progress, receipts: readonly Receipt[]): Progress => progressedAt(before, receipts, at(60));
const sent: Progress = { status: "sent", sent_at: at(0) };

const isSent = aReceipt(1, { kind: "sent" });
const delivered = aReceipt(2, { kind: "delivered" });
const opened = aReceipt(3, { kind: "opened", machine: false, userAgent: null });
const clicked = aReceipt(4, { kind: "clicked", machine: false, url: "https://shop.example/", buttonId: null });
const failed = aReceipt(5, { kind: "failed", code: "HARD_BOUNCE", providerCode: "30006", reason: "gone" });
const errored = aReceipt(5, { kind: "errored", code: "PROVIDER_AUTH", providerCode: null, reason: "no" });
const bounced = aReceipt(6, {
  kind: "bounced",
  type: "hard",
  code: "HARD_BOUNCE",
  providerCode: "550 5.1.1",
  reason: "no such mailbox",
});
const complained = aReceipt(7, { kind: "complained", source: "provider", reason: "abuse" });
const unsubscribed = aReceipt(8, { kind: "unsubscribed", source: "one_click", reason: null, categories: null });

const ordersOf = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((one, i) => ordersOf(items.filter((_, other) => other !== i)).map((rest) => [one, ...rest]));

const oneByOne = (before: Progress, receipts: readonly Receipt[]): Progress =>
  receipts.reduce((delivery, receipt) => progressed(delivery, [receipt]), before);

describe("receipts of a delivery", () => {
  const four: { it: string; receipts: Receipt[]; status: Progress["status"]; has?: Partial<Progress> }[] = [
    {
      it: "sent, delivered, opened and clicked",
      receipts: [isSent, delivered, opened, clicked],
      status: "clicked",
      has: { delivered_at: at(2), opened_at: at(3), clicked_at: at(4), clicked_url: "https://shop.example/" },
    },
    {
      it: "sent, delivered, failed and opened",
      receipts: [isSent, delivered, failed, opened],
      status: "opened",
      has: { failed_at: at(5) },
    },
    {
      it: "sent, delivered, failed and bounced",
      receipts: [isSent, delivered, failed, bounced],
      status: "bounced",
      has: { error_code: "HARD_BOUNCE", provider_code: "550 5.1.1", bounce_type: "hard" },
    },
    {
      it: "delivered, opened, bounced and complained",
      receipts: [delivered, opened, bounced, complained],
      status: "complained",
      has: { opened_at: at(3) },
    },
    {
      it: "clicked, complained, unsubscribed and delivered",
      receipts: [clicked, complained, unsubscribed, delivered],
      status: "complained",
    },
    { it: "sent, failed, sent again and failed again", receipts: [isSent, failed, isSent, failed], status: "failed" },
  ];
  for (const { it: name, receipts, status, has = {} } of four) {
    it(`come to the same in all 24 orders: ${name}`, () => {
      const all = ordersOf(receipts);
      expect(all).to.have.length(24);
      const first = progressed(sent, receipts);
      expect(first).to.include({ status, provider_message_id: "p-1" });
      for (const [member, value] of Object.entries(has)) expect(first).to.have.deep.property(member, value);
      for (const order of all) {
        expect(progressed(sent, order)).to.deep.equal(first);
        expect(oneByOne(sent, order)).to.deep.equal(first);
      }
    });
  }

  it("change nothing when they come again", () => {
    const once = progressed(sent, [delivered, clicked]);
    expect(progressed(once, [delivered, clicked, delivered])).to.deep.equal(once);
  });

  it("keep the earliest of a kind", () => {
    const late = { ...delivered, at: at(30) };
    expect(progressed(progressed(sent, [late]), [delivered]).delivered_at).to.deep.equal(at(2));
    expect(progressed(progressed(sent, [delivered]), [late]).delivered_at).to.deep.equal(at(2));
  });

  it("show by failing which side refused", () => {
    expect(progressed(sent, [errored])).to.include({ status: "errored", error_code: "PROVIDER_AUTH" });
    expect(progressed(sent, [errored, delivered]))
      .to.include({ status: "delivered" })
      .and.not.have.property("error_code");
  });

  it("of programs are not shown", () => {
    const scanned = progressed(sent, [{ ...opened, machine: true }]);
    expect(scanned.status).to.equal("sent");
    expect(scanned).to.not.have.property("opened_at");
    expect(isShown(scanned, { ...opened, machine: true })).to.equal(false);
  });

  it("of programs are kept apart, the earliest of a kind in whatever order they come", () => {
    const scans = [9, 3, 5].map((second) => ({ ...opened, at: at(second), machine: true }));
    const click = { ...clicked, machine: true };
    const kept = { provider_message_id: "p-1", machine_opened_at: at(3), machine_clicked_at: click.at };
    expect(progressed(sent, [...scans, click])).to.deep.equal({ ...sent, ...kept });
    expect(progressed(progressed(sent, [click]), scans.toReversed())).to.deep.equal({ ...sent, ...kept });
  });

  it("are shown when they are the first of their kind", () => {
    const delivery = progressed(sent, [delivered]);
    expect(isShown(delivery, delivered)).to.equal(true);
    expect(isShown(delivery, { ...delivered, at: at(9) })).to.equal(false);
  });

  it("show that the provider has what was uncertain", () => {
    const delivery = progressed({ ...sent, uncertain: true, error_message: "the link broke" }, [delivered]);
    expect(delivery).to.not.have.any.keys("uncertain", "error_message");
  });
});

describe("the counters of a message", () => {
  const cases: { it: string; before?: Progress; receipts: Receipt[]; counts: object }[] = [
    { it: "count what was delivered", receipts: [delivered], counts: { delivered: 1 } },
    { it: "count an open as delivered", receipts: [opened], counts: { delivered: 1, opened: 1 } },
    { it: "count a click as opened", receipts: [clicked], counts: { delivered: 1, opened: 1, clicked: 1 } },
    {
      it: "count nothing twice",
      before: progressed(sent, [clicked]),
      receipts: [opened, delivered, clicked],
      counts: {},
    },
    { it: "count a failure beside what was sent", receipts: [failed], counts: { failed: 1 } },
    {
      it: "no longer count a failure that got through",
      before: progressed(sent, [failed]),
      receipts: [delivered],
      counts: { failed: -1, delivered: 1 },
    },
    {
      it: "count what had expired and got through as sent",
      before: { status: "expired" },
      receipts: [delivered],
      counts: { expired: -1, sent: 1, delivered: 1 },
    },
    { it: "count a bounce as neither delivered nor failed", receipts: [bounced], counts: { bounced: 1 } },
    { it: "count a complaint as delivered", receipts: [complained], counts: { delivered: 1, complained: 1 } },
    {
      it: "count what was uncertain as certain",
      before: { ...sent, uncertain: true },
      receipts: [isSent],
      counts: { uncertain: -1 },
    },
    { it: "count no program", receipts: [{ ...clicked, machine: true }], counts: {} },
  ];
  for (const { it: name, before = sent, receipts, counts } of cases) {
    it(name, () => expect(countsBetween(before, progressed(before, receipts))).to.deep.equal(counts));
  }
});
