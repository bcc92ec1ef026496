import { expect } from "chai";
import { liveActivityMessages } from "#core/storage/messages/live-activities.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection, messages } from "#core/storage/messages/messages.ts";
import { usage } from "#core/storage/messages/usage.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { quota } from "../../../../apiserver/limits/quota.ts";
import { accept } from "../../../../apiserver/messages/accept.ts";
import { activityReplica, anActivitySender } from "../../../support/live-activities/replica.ts";
import { handClock, noon } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("two apiservers whose clocks are 200 ms apart", () => {
  const db = testDatabase("clocks");
  const never = new AbortController().signal;

  const clocks = () => ({ ahead: handClock(new Date(noon.getTime() + 200)), behind: handClock() });
  const target = { include_subscription_ids: ["sub_1"] };

  it("accept the updates of an activity in the order in which they were asked for", async () => {
    const sender = anActivitySender();
    const { ahead, behind } = clocks();
    const [fast, slow] = [activityReplica(db(), sender, ahead), activityReplica(db(), sender, behind)];
    const sent: string[] = [];
    const state = (step: number) => ({ activity_id: "o-1", content_state: { step } });
    sent.push((await fast.start({ ...state(0), target })).message_id);
    sent.push((await slow.update(state(1))).message_id);
    sent.push((await fast.update(state(2))).message_id);
    sent.push((await slow.start({ ...state(3), target })).message_id);
    sent.push((await slow.end({ activity_id: "o-1" })).message_id);
    expect(sent.toSorted()).to.deep.equal(sent);
    const stored = messages(db());
    await collectionOf<MessageRow>(db(), messageCollection).updateMany(
      { app_id: sender.app._id },
      { $set: { status: "processing" } },
    );
    const rows = await Promise.all(sent.map((id) => stored.find(sender.caller.tenant._id, id, never)));
    const instants = rows.map((row) => row?.created_at.toISOString() ?? "");
    expect(instants.toSorted()).to.deep.equal(instants);
    const newer = await liveActivityMessages(db()).newerBegun(rows[2]!);
    expect(newer?._id).to.equal(sent[4]);
  });

  it("have the message that was asked for last replace others of its collapse id", async () => {
    const { app, caller } = anActivitySender();
    const stored = messages(db());
    const estimate = async () => ({
      recipients: 1,
      byChannel: {},
      contacts: [],
      newContacts: 0,
      externalIdMissing: [],
      missing: { subscription_ids: [], aliases: {} },
    });
    const rest = {
      aimOf: async () => null,
      take: async () => null,
      requireFeature: async () => undefined,
      compile: async () => "",
      requireRoom: async () => undefined,
      makeContacts: async () => undefined,
      publish: () => undefined,
      count: () => undefined,
    };
    const reservations = quota({ usage: usage(db()), stored: stored.stored, firstDayMessages: 0 });
    const { ahead, behind } = clocks();
    const sent: string[] = [];
    for (const clock of [ahead, behind, ahead, behind]) {
      const send = accept({ messages: stored, estimate, quota: reservations, clock, ...rest });
      const body = { target, contents: { en: "x" }, collapse_id: "score" };
      const { result } = await send({ caller, app, body, key: undefined, traceparent: "" }, never);
      sent.push(result.id);
    }
    expect(sent.toSorted()).to.deep.equal(sent);
  });
});
