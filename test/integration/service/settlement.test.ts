import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { Unavailable } from "#core/errors.ts";
import { chunks } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection, messages } from "#core/storage/messages/messages.ts";
import { settleReserved } from "#core/storage/messages/settlement.ts";
import { type Usage, type UsageRow, usage } from "#core/storage/messages/usage.ts";
import { messageWork } from "#core/storage/messages/work.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { cancel } from "../../../apiserver/messages/cancel.ts";
import { finish } from "../../../dispatcher/messages/finish.ts";
import { recount } from "../../../dispatcher/messages/recount.ts";
import { messageDue } from "../../../dispatcher/work/timer-sources.ts";
import { aMessage, handClock } from "../../support/rows/work.ts";
import { testDatabase } from "../../support/servers/database.ts";
import { until } from "../../support/until.ts";

const clock = handClock();
const period = "2026-03";
const never = new AbortController().signal;
const reserved = { periods: [period], count: 10 };

const asked = { by: { type: "api_key" as const, id: "key_1" }, isForced: false };

describe("what a message reserved and did not use", () => {
  const db = testDatabase("settlement");
  const rows = () => collectionOf<MessageRow>(db(), messageCollection);
  const killed = () => Promise.reject(new Unavailable("the database"));

  /** A message of a tenant that has used 100 of a month. */
  const stored = async (change: Partial<MessageRow> = {}): Promise<MessageRow> => {
    const [_id, tenant_id] = [`msg_${randomUUID()}`, `ten_${randomUUID()}`];
    const row = aMessage({ _id, tenant_id, reserved, due_at: clock.now(), ...change });
    const used: UsageRow = { _id: `${tenant_id}:${period}`, tenant_id, period, messages: 100, created_at: clock.now() };
    await rows().insertOne(row);
    await db().collection<UsageRow>("usage").insertOne(used);
    return row;
  };
  const usedBy = async ({ tenant_id }: MessageRow) =>
    (await db().collection<UsageRow>("usage").findOne({ tenant_id })) ?? expect.fail("no usage");
  const find = async ({ _id }: MessageRow): Promise<MessageRow> => (await rows().findOne({ _id })) ?? expect.fail(_id);

  /** Ends it as a dispatcher that sent four of ten, and is killed where `over` fails. */
  const end = async (message: MessageRow, over: Partial<Pick<Usage, "giveBack" | "noteSettled">>): Promise<void> => {
    const tally = async () => [
      { status: "sent" as const, error_code: null, uncertain: 0, reported: { sent: 4 }, segments: 0, count: 4 },
    ];
    const ending = finish({
      deliveries: { tally },
      messages: messageWork(db()),
      outbox: { flush: killed },
      settle: settleReserved(rows(), { ...usage(db()), ...over }),
      clock,
    });
    await ending.complete(message).catch(() => undefined);
  };

  /** What is done with it when it is due. */
  const comeDue = async (message: MessageRow): Promise<void> => {
    const handle = messageDue({
      hints: { message: killed, chunk: killed },
      settle: settleReserved(rows(), usage(db())),
      flush: async () => true,
      recount: async () => undefined,
      withdraw: async () => undefined,
      clock,
    });
    await handle(await find(message));
  };

  const kills: { it: string; over: Partial<Usage>; usedThen: number }[] = [
    { it: "before anything was given back", over: { giveBack: killed }, usedThen: 100 },
    { it: "before the message says so", over: { noteSettled: killed }, usedThen: 94 },
    { it: "afterwards", over: {}, usedThen: 94 },
  ];
  for (const { it: when, over, usedThen } of kills) {
    it(`is given back once by a dispatcher that is killed ${when}`, async () => {
      const message = await stored();
      await end(message, over);
      expect((await usedBy(message)).messages).to.equal(usedThen);
      if (over.noteSettled) await rows().updateOne({ _id: message._id }, { $set: { unsettled: 6 } }); // it was not noted
      await comeDue(message);
      expect((await usedBy(message)).messages).to.equal(94);
      expect(await find(message)).to.not.have.property("unsettled");
      expect((await find(message)).outbox).to.have.length(1);
    });
  }

  it("is given back of a message that was cancelled by an apiserver that was killed then", async () => {
    const message = await stored({ status: "queued", fence: 0 });
    const cut = cancel({ messages: messages(db()), chunks: chunks(db()), settle: killed, clock })(
      message,
      asked,
      never,
    );
    expect(await cut.catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
    expect((await find(message)).due_at).to.not.equal(null);
    await comeDue(message);
    expect((await usedBy(message)).messages).to.equal(90);
    expect(await find(message))
      .to.include({ status: "cancelled", due_at: null })
      .and.not.have.property("unsettled");
  });

  it("leaves nothing to do for one that had reserved nothing", async () => {
    const message = await stored({ status: "queued", fence: 0, reserved: null });
    await messages(db()).cancel(message.tenant_id, message._id, { now: clock.now(), by: asked.by });
    expect(await find(message))
      .to.include({ status: "cancelled", due_at: null })
      .and.not.have.property("unsettled");
  });

  it("is charged once it was sent after the end", async () => {
    const message = await stored();
    await end(message, {});
    await until(async () => (await usedBy(message)).settled?.length === 0);
    await rows().updateOne({ _id: message._id }, { $set: { outbox: [], recount: true } });
    const sent = { status: "sent" as const, error_code: null, uncertain: 0, segments: 0 };
    const later = { ...clock, now: () => new Date(clock.now().getTime() + 3_600_000) };
    const deps = { messages: messageWork(db()), clock: later };
    const counting = recount({
      deliveries: { tally: async () => [{ ...sent, reported: { sent: 6 }, count: 6 }] },
      effects: { tally: async () => [] },
      ...deps,
    });
    await counting(await find(message));
    for (let times = 0; times < 2; times++) await comeDue(message);
    expect((await usedBy(message)).messages).to.equal(96);
    expect(await find(message))
      .to.include({ due_at: null })
      .and.not.have.property("unsettled");
  });

  it("is remembered for no longer than it needs to be", async () => {
    const message = await stored();
    await end(message, {});
    await until(async () => (await usedBy(message)).settled?.length === 0);
  });
});
