import { expect } from "chai";
import { Unavailable } from "#core/errors.ts";
import { chunks } from "#core/storage/messages/chunks.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection, messages } from "#core/storage/messages/messages.ts";
import { settleReserved } from "#core/storage/messages/settlement.ts";
import { type UsageRow, usage } from "#core/storage/messages/usage.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { quota } from "../../../../apiserver/limits/quota.ts";
import { accept } from "../../../../apiserver/messages/accept.ts";
import { cancel } from "../../../../apiserver/messages/cancel.ts";
import { allAccounts, anApiKey, anApp, aPlan, aTenant, longSince } from "../../../support/rows/fixtures.ts";
import { handClock } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";

const asked = { by: { type: "api_key" as const, id: "key_1" }, isForced: false };

describe("what messages reserve of a quota", () => {
  const db = testDatabase("quota");

  const never = new AbortController().signal;
  const away = () => Promise.reject(new Unavailable("the database"));

  /** An organisation that is new, or old, under a plan of so many deliveries a month; ten are allowed on a first day. */
  const anOrganisation = (is: "new" | "old", ofMonth: number | null) => {
    const clock = handClock();
    const tenant = aTenant({ created_at: is === "new" ? clock.now() : longSince });
    const blank = anApp({ tenant_id: tenant._id });
    const app = { ...blank, channels: allAccounts(blank._id) };
    const key = anApiKey({ tenant_id: tenant._id }).row;
    const caller = { key, tenant, plan: aPlan({ messages_per_month: ofMonth }) };
    const kept = messages(db());
    const settleOne = settleReserved(collectionOf<MessageRow>(db(), messageCollection), usage(db()));
    const reservations = quota({ usage: usage(db()), stored: kept.stored, firstDayMessages: 10 });
    const send = async (recipients: number, insert: (row: MessageRow) => Promise<boolean> = kept.insert) => {
      const estimate = async () => ({
        recipients,
        byChannel: {},
        contacts: [],
        newContacts: 0,
        externalIdMissing: [],
        missing: { subscription_ids: [], aliases: {} },
      });
      const rest = {
        take: async () => null,
        aimOf: async () => null,
        requireFeature: async () => undefined,
        compile: async () => "",
        requireRoom: async () => undefined,
        makeContacts: async () => undefined,
        publish: () => undefined,
        count: () => undefined,
        clock,
      };
      const use = accept({ messages: { ...kept, insert }, estimate, quota: reservations, ...rest });
      const body = { target: { all: true }, contents: { en: "x" } };
      const { result } = await use({ caller, app, body, key: undefined, traceparent: "" }, never);
      return result.id;
    };
    const refusal = (sending: Promise<unknown>): Promise<unknown> =>
      sending.then(
        () => null,
        (error: { code: string; details: { metric?: string } }) => error.details.metric ?? error.code,
      );
    const drop = async (id: string): Promise<void> => {
      const message = await kept.find(tenant._id, id, never);
      if (message !== null)
        await cancel({ messages: kept, chunks: chunks(db()), settle: settleOne, clock })(message, asked, never);
    };
    /** As the dispatcher does when a message has been sent to so many. */
    const settle = async (id: string, sent: number): Promise<void> => {
      const message = await kept.find(tenant._id, id, never);
      if (message?.reserved) await settleOne({ ...message, unsettled: message.reserved.count - sent }, clock.now());
    };
    const rows = () => db().collection<UsageRow>("usage").find({ tenant_id: tenant._id }).toArray();
    const used = async () => Object.fromEntries((await rows()).map(({ period, messages: n }) => [period, n]));
    const isSettled = async () => (await rows()).every(({ pending = [] }) => pending.length === 0);
    return { send, refusal, drop, settle, used, isSettled, clock };
  };
  const month = handClock().now().toISOString().slice(0, 7);

  it("is of the month and of the first day, and comes back from both when one is cancelled", async () => {
    const { send, drop, used, refusal, isSettled } = anOrganisation("new", 100);
    const id = await send(7);
    expect(await used()).to.deep.equal({ [month]: 7, "first-day": 7 });
    expect(await refusal(send(4))).to.equal("messages_per_day");
    expect(await used()).to.deep.equal({ [month]: 7, "first-day": 7 });
    await drop(id);
    expect(await used()).to.deep.equal({ [month]: 0, "first-day": 0 });
    await until(isSettled);
  });

  it("is of the first day on an unlimited plan too, and of nothing after it", async () => {
    const { send, used, refusal } = anOrganisation("new", null);
    await send(10);
    expect(await refusal(send(1))).to.equal("messages_per_day");
    expect(await used()).to.deep.equal({ "first-day": 10 });
    const old = anOrganisation("old", null);
    await old.send(11);
    expect(await old.used()).to.deep.equal({});
  });

  it("is not lost with a message that could not be stored", async () => {
    const { send, used, refusal, clock, isSettled } = anOrganisation("new", 10);
    await send(3);
    expect(await refusal(send(7, away))).to.equal("HS_UNAVAILABLE");
    expect(await refusal(send(5))).to.equal("messages_per_month"); // it may yet be stored
    clock.tick(90_000);
    await send(5);
    expect(await used()).to.deep.equal({ [month]: 8, "first-day": 8 });
    await until(isSettled);
  });

  it("stays with a message that was stored though nobody could say so", async () => {
    const { send, used, refusal, clock } = anOrganisation("old", 10);
    const storeAndFail = async (row: MessageRow) => {
      await messages(db()).insert(row);
      return away();
    };
    expect(await refusal(send(7, storeAndFail))).to.equal("HS_UNAVAILABLE");
    clock.tick(90_000);
    expect(await refusal(send(5))).to.equal("messages_per_month");
    expect(await used()).to.deep.equal({ [month]: 7 });
  });

  it("counts for a message that was expected to reach nobody, and reached some when it was sent", async () => {
    const { send, settle, used } = anOrganisation("new", 100);
    const ids = await Promise.all([0, 1, 2, 3].map(() => send(0)));
    expect(await used()).to.deep.equal({});
    await Promise.all(ids.map((id) => settle(id, 2)));
    expect(await used()).to.deep.equal({ [month]: 8, "first-day": 8 });
    await settle(await send(0), 0);
    expect(await used()).to.deep.equal({ [month]: 8, "first-day": 8 });
  });

  it("is given back once, however many are refused at the same moment", async () => {
    const { send, used, refusal, clock } = anOrganisation("old", 10);
    for (let n = 0; n < 5; n++) await refusal(send(2, away));
    clock.tick(90_000);
    const refused = await Promise.all(Array.from({ length: 8 }, () => refusal(send(2))));
    expect(refused.filter((one) => one === null)).to.have.length(5);
    expect(await used()).to.deep.equal({ [month]: 10 });
  });
});
