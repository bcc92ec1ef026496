import { expect } from "chai";
import { countsBetween, type Progress, progressed as progressedAt } from "#core/domain/messages/progress.ts";
import type { Receipt, ReceiptFact } from "#core/domain/messages/receipts.ts";
import { isPacedClick, mostTouches } from "#core/domain/messages/touches.ts";

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 22, 12, 0, 0, second * 1_000));
const aReceipt = (second: number, fact: ReceiptFact): Receipt => ({
  deliveryId: "dlv_1",
  providerId: null,
  address: null,
  at: at(second),
  ...fact,
});
const opened = (second: number, machine = false) => aReceipt(second, { kind: "opened", machine, userAgent: null });
const clicked = (second: number, path: string, { machine = false, buttonId = null as string | null } = {}) =>
  aReceipt(second, { kind: "clicked", machine, url: `https://shop.example/${path}`, buttonId });
const delivered = (second: number) => aReceipt(second, { kind: "delivered" });

const sent: Progress = { status: "sent", sent_at: at(0) };
const progressed = (before: Progress, receipts: readonly Receipt[]) => progressedAt(before, receipts, at(60));
const oneByOne = (receipts: readonly Receipt[]) => receipts.reduce((row, one) => progressed(row, [one]), sent);

const ordersOf = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((one, i) => ordersOf(items.filter((_, other) => other !== i)).map((rest) => [one, ...rest]));

describe("opens and clicks of a delivery", () => {
  it("make no list while there is one of a kind, however often it is told", () => {
    const once = oneByOne([opened(3), clicked(90, "a"), opened(3), clicked(90, "a")]);
    expect(once).to.not.have.any.keys("opens", "clicks", "open_count", "click_count");
    expect(once).to.deep.include({ opened_at: at(3), clicked_at: at(90), clicked_url: "https://shop.example/a" });
  });

  it("are counted each time, by people apart from programs", () => {
    const often = oneByOne([opened(9), opened(3), opened(1, true), opened(9), clicked(90, "a"), clicked(200, "a")]);
    expect(often).to.deep.include({ opened_at: at(3), machine_opened_at: at(1), open_count: 2, click_count: 2 });
    expect(often.opens?.map((one) => [one.at, one.machine])).to.deep.equal([
      [at(1), "agent"],
      [at(3), undefined],
      [at(9), undefined],
    ]);
  });

  const four: { it: string; receipts: Receipt[]; has: Partial<Progress>; counts: object }[] = [
    {
      it: "a scanner that follows links, and a person who comes later",
      receipts: [delivered(2), clicked(3, "a"), clicked(5, "b"), clicked(900, "b")],
      has: {
        status: "clicked",
        clicked_at: at(900),
        clicked_url: "https://shop.example/b",
        machine_clicked_at: at(3),
        click_count: 1,
      },
      counts: { delivered: 1, opened: 1, clicked: 1 },
    },
    {
      it: "a scanner alone, before its server says that it has the mail",
      receipts: [delivered(70), clicked(62, "a"), clicked(63, "b"), opened(200)],
      has: { status: "opened", machine_clicked_at: at(62), click_count: 0, opened_at: at(200) },
      counts: { delivered: 1, opened: 1 },
    },
    {
      it: "a program that says so, and a person",
      receipts: [clicked(1, "a", { machine: true }), clicked(1, "a"), clicked(50, "b"), delivered(0)],
      has: { clicked_at: at(1), clicked_url: "https://shop.example/a", machine_clicked_at: at(1), click_count: 2 },
      counts: { delivered: 1, opened: 1, clicked: 1 },
    },
  ];
  for (const { it: name, receipts, has, counts } of four)
    it(`come to the same in every order: ${name}`, () => {
      const first = progressed(sent, receipts);
      expect(first).to.deep.include(has);
      expect(countsBetween(sent, first)).to.deep.equal(counts);
      for (const order of ordersOf(receipts)) {
        expect(progressed(sent, order)).to.deep.equal(first);
        expect(oneByOne(order)).to.deep.equal(first);
        expect(progressed(first, order)).to.deep.equal(first);
      }
    });

  const people: [string, Receipt[]][] = [
    ["one link twice", [clicked(3, "a"), clicked(4, "a")]],
    ["two links more than three seconds apart", [clicked(3, "a"), clicked(6.001, "b")]],
    ["two links long after the mail arrived", [clicked(61, "a"), clicked(62, "b")]],
    ["two buttons", [clicked(3, "a", { buttonId: "1" }), clicked(4, "b", { buttonId: "2" })]],
  ];
  for (const [name, clicks] of people)
    it(`are a person's: ${name}`, () => {
      const row = oneByOne(clicks);
      expect(row).to.deep.include({ status: "clicked", click_count: 2 });
      expect(row).to.not.have.property("machine_clicked_at");
      expect(clicks.map((one) => isPacedClick(row, one))).to.deep.equal([false, false]);
    });

  it("are by a program three seconds apart, within a minute of the arrival", () => {
    const clicks = [clicked(57, "a"), clicked(60, "b")];
    const row = oneByOne(clicks);
    expect(row).to.include({ status: "sent", click_count: 0 }).and.not.have.any.keys("clicked_at", "clicked_url");
    expect(clicks.map((one) => isPacedClick(row, one))).to.deep.equal([true, true]);
    expect(countsBetween(progressed(sent, [clicks[0] as Receipt]), row)).to.deep.equal({
      delivered: -1,
      opened: -1,
      clicked: -1,
    });
  });

  it("are bounded: the earliest are kept", () => {
    const all = Array.from({ length: mostTouches + 5 }, (_, n) => opened(100 - n));
    const row = oneByOne(all);
    expect(row.opens).to.have.length(mostTouches);
    expect(row).to.deep.include({ opened_at: at(100 - mostTouches - 4), open_count: mostTouches });
    expect(oneByOne(all.toReversed())).to.deep.equal(row);
  });

  it("of a device whose clock is ahead are one, however often it tells it", () => {
    const ahead = { kind: "opened", machine: false, userAgent: null, said: "2999-01-01T00:00:00Z" } as const;
    expect(oneByOne([aReceipt(3, ahead), aReceipt(8, ahead)])).to.not.have.property("open_count");
  });
});
