import { expect } from "chai";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import type { DeviceReceipt } from "#core/schema/devices/reports.ts";
import { deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import { receiveReceipts } from "../../../../apiserver/devices/receipts.ts";
import { aSubscription, handClock } from "../../../support/rows/work.ts";

describe("receipts of a device", () => {
  const own = aSubscription({ _id: "sub_1" });
  const clock = handClock();
  const at = clock.now().toISOString();
  const id = (message: string) => deliveryIdOf(message, own._id);
  const kept: Receipt[] = [];
  const receive = (...receipts: DeviceReceipt[]) => receiveOf({}, receipts);
  const receiveOf = async (app: { receipts_enabled?: boolean }, receipts: DeviceReceipt[]) => {
    kept.length = 0;
    const known = async () => new Map([[id("msg_1"), null] as const, [id("msg_2"), "match-1"] as const]);
    const keep = async (_of: unknown, { body }: { body: Buffer }) => {
      kept.push(...(JSON.parse(body.toString()) as Receipt[])); // sound: as it was written
    };
    return receiveReceipts({ known, keep, clock })(app, own, { receipts });
  };

  it("are of deliveries that there are, or may come", async () => {
    const receipts: DeviceReceipt[] = [
      { type: "received", message_id: "msg_1", occurred_at: at },
      { type: "dismissed", message_id: "msg_1", occurred_at: at },
      { type: "received", message_id: "msg_3", occurred_at: at },
    ];
    expect(await receive(...receipts)).to.deep.equal({ accepted: 3, duplicates: 0, errors: [] });
    expect(kept.map(({ deliveryId, kind }) => [deliveryId, kind])).to.deep.equal([
      [id("msg_1"), "delivered"],
      [id("msg_1"), "dismissed"],
    ]);
  });

  it("of a clock that is a day off count as of when it says, or as of now where that is ahead", async () => {
    const dayMs = 86_400_000;
    const said = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();
    await receive(
      { type: "received", message_id: "msg_1", occurred_at: said(-dayMs) },
      { type: "opened", message_id: "msg_1", occurred_at: said(dayMs) },
    );
    expect(kept.map((one) => one.at)).to.deep.equal([said(-dayMs), said(0)]);
  });

  it("are refused one by one where the app takes none", async () => {
    const receipt = { type: "received" as const, message_id: "msg_1", occurred_at: at };
    const { accepted, errors } = await receiveOf({ receipts_enabled: false }, [receipt, receipt]);
    expect([accepted, ...errors.map(({ index, code }) => [index, code])]).to.deep.equal([
      0,
      [0, "RECEIPTS_DISABLED"],
      [1, "RECEIPTS_DISABLED"],
    ]);
    expect(kept).to.deep.equal([]);
  });

  it("are dropped where they name another live activity than the message changes", async () => {
    const receipt = { type: "received" as const, occurred_at: at };
    await receive(
      { ...receipt, message_id: "msg_2", activity_id: "match-1" },
      { ...receipt, message_id: "msg_2", activity_id: "match-2" },
      { ...receipt, message_id: "msg_1", activity_id: "match-1" },
    );
    expect(kept.map(({ deliveryId }) => deliveryId)).to.deep.equal([id("msg_2")]);
  });

  it("say of a click by a clock that is ahead when that says it was, whenever they are told", async () => {
    const click: DeviceReceipt = { type: "clicked", message_id: "msg_1", occurred_at: "2999-01-01T00:00:00Z" };
    await receive(click);
    const [first] = kept;
    clock.tick(5_000);
    await receive(click);
    expect(first).to.deep.include({ kind: "clicked", said: "2999-01-01T00:00:00Z", at });
    expect(kept[0]).to.deep.include({ said: "2999-01-01T00:00:00Z", at: clock.now().toISOString() });
  });
});
