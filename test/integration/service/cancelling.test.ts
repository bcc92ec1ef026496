import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import { chunks } from "#core/storage/messages/chunks.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection, messages } from "#core/storage/messages/messages.ts";
import { messageWork } from "#core/storage/messages/work.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { cancel } from "../../../apiserver/messages/cancel.ts";
import { chunkOf } from "../../../dispatcher/messages/cut.ts";
import { aMessage, handClock, noon } from "../../support/rows/work.ts";
import { testDatabase } from "../../support/servers/database.ts";

describe("a message that is being processed", () => {
  const db = testDatabase("cancelling");
  const never = new AbortController().signal;
  const clock = handClock();
  let ids = 0;

  /** A message that a dispatcher has begun with, and how many of its chunks there are. */
  const given = async (over: Partial<MessageRow> = {}, cut = 2): Promise<MessageRow> => {
    const _id = `msg_cancelling_${++ids}`;
    const all = { target: { all: true }, status: "processing" as const, fence: 1, lease: null };
    const message = aMessage({ _id, ...all, ...over });
    await collectionOf<MessageRow>(db(), messageCollection).insertOne(message);
    const piece = { channel: "ios_push" as const, recipients: ["sub_1"], scanned: null };
    const made = Array.from({ length: cut }, (_, n) => chunkOf(message, piece, n, noon));
    await chunks(db()).keep(made);
    return message;
  };
  const settle = async () => undefined;
  const by = { type: "api_key" as const, id: "key_1" };
  const ask = (message: MessageRow, isForced = false): Promise<unknown> =>
    cancel({ messages: messages(db()), chunks: chunks(db()), settle, clock })(message, { by, isForced }, never).then(
      ({ status }) => status,
      ({ code }: { code: string }) => code,
    );
  const begin = ({ _id }: MessageRow) => messageWork(db()).content({ message_id: _id }, noon);

  it("is cancelled while none of its chunks has begun, and none begins then", async () => {
    const message = await given();
    expect(await ask(message)).to.equal("cancelled");
    expect(await begin(message)).to.equal(null);
    expect(await ask(message)).to.equal("cancelled");
    expect((await messages(db()).find(message.tenant_id, message._id, never))?.fence).to.equal(2); // a turn stops at that
  });

  it("is not cancelled when a chunk has begun", async () => {
    const message = await given();
    await begin(message);
    expect(await ask(message)).to.equal("HS_CONFLICT");
  });

  it("is not cancelled when it may have been sent without chunks", async () => {
    expect(await ask(await given({}, 0))).to.equal("HS_CONFLICT"); // to few
    expect(await ask(await given({ fence: 2 }))).to.equal("HS_CONFLICT"); // it was cut after an earlier turn
    const explicit = { target: { include_subscription_ids: ["sub_1"] } };
    expect(await ask(await given({ ...explicit, planned: false }))).to.equal("HS_CONFLICT"); // it may be cut anew
    expect(await ask(await given({ ...explicit, planned: true }))).to.equal("cancelled");
  });

  it("is cancelled while it waits in its turn, and is not handed over then", async () => {
    const { wait, begin: beginIt, rest } = messageWork(db());
    const [waiting, begun, taken, left] = [
      await given({}, 0),
      await given({}, 0),
      await given({}, 0),
      await given({}, 0),
    ];
    await wait(waiting);
    expect(await ask(waiting)).to.equal("cancelled");
    expect(await beginIt(waiting)).to.equal(false);
    expect(await wait(waiting)).to.equal(false);
    await wait(begun);
    expect(await beginIt(begun)).to.equal(true);
    expect(await ask(begun)).to.equal("HS_CONFLICT");
    await wait(taken);
    expect(await beginIt({ ...taken, fence: 0 }), "by a turn that lost it").to.equal(false);
    await rest(left, noon, { planned: false, isUntouched: true });
    expect(await ask(left)).to.equal("cancelled");
  });

  it("is cancelled by force whatever was sent of it, and neither goes on nor ends otherwise then", async () => {
    const message = await given({ counts: { targeted: 3, sent: 2 }, reserved: { count: 5, periods: [] } });
    await begin(message);
    expect(await ask(message)).to.equal("HS_CONFLICT");
    expect(await ask(message, true)).to.equal("cancelled");
    expect(await begin(message)).to.equal(null);
    const { finish, count } = messageWork(db());
    const event = makeEvent({
      kind: "message.completed",
      appId: "app_1",
      subjectId: "x",
      at: noon,
      from: [],
      data: {},
    });
    expect(await finish(message, { status: "completed", error: null, counts: {}, at: noon, event })).to.equal(false);
    await count(message._id, { sent: 1 }, new Date(noon.getTime() + 1_000));
    const row = await messages(db()).find(message.tenant_id, message._id, never);
    expect(row).to.deep.include({ status: "cancelled", unsettled: 3, recount: true, withdraws: true, outbox: [] });
    expect(row).to.deep.include({ cancelled_by: { ...by, by_force: true }, counts: { targeted: 3, sent: 2 } });
  });

  for (const status of ["completed", "failed"] as const)
    it(`is not cancelled once it is ${status}, by force either`, async () => {
      expect(await ask(await given({ status }), true)).to.equal("HS_CONFLICT");
    });

  it("is not cancelled by force where it changes a live activity", async () => {
    const live_activity = { activity: "act_1" } as MessageRow["live_activity"] & object; // what else it has is not asked
    expect(await ask(await given({ live_activity, planned: false, dispatched_at: noon }), true)).to.equal(
      "HS_CONFLICT",
    );
  });

  it("is either cancelled or handed over when both come at once in its turn", async () => {
    const { wait, begin: beginIt } = messageWork(db());
    const both = async (message: MessageRow): Promise<boolean> => {
      await wait(message);
      const [answer, isOurs] = await Promise.all([ask(message), beginIt(message)]);
      return (answer === "cancelled") !== isOurs;
    };
    const made = await Promise.all(Array.from({ length: 20 }, () => given({}, 0)));
    expect(await Promise.all(made.map(both))).to.deep.equal(made.map(() => true));
  });

  it("is either cancelled or sent when both come at once", async () => {
    const both = async (message: MessageRow): Promise<boolean> => {
      const [answer, sent] = await Promise.all([ask(message), begin(message)]);
      return (answer === "cancelled") !== (sent !== null);
    };
    const made = await Promise.all(Array.from({ length: 20 }, () => given()));
    expect(await Promise.all(made.map(both))).to.deep.equal(made.map(() => true));
  });
});
