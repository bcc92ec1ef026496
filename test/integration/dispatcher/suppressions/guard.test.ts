import { expect } from "chai";
import type { ReceiptFact } from "#core/domain/messages/receipts.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { verdicts } from "#core/storage/suppressions/verdicts.ts";
import type { About } from "../../../../dispatcher/suppressions/causes.ts";
import { type AnsweredGone, type Answers, guard } from "../../../../dispatcher/suppressions/guard.ts";
import { suppressions } from "../../../../dispatcher/suppressions/open.ts";
import { aMail } from "../../../support/callbacks/deliveries.ts";
import { testKeyRing } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
let number = 1_000_000;

const refused = { code: "RECIPIENT_INVALID", providerCode: "30005", reason: "the number is unknown" } as const;
const gone = { kind: "failed", suppress: "invalid_address", ...refused } as const;
const doubtful = { ...gone, isDoubtful: true, providerCode: "30006" } as const;
const delivered = { kind: "delivered" } as const;
const hardBounce = { ...refused, kind: "bounced", type: "hard" } as const;

describe("what receipts say of addresses", () => {
  const db = testDatabase("doubt");
  const clock = { now: () => new Date() };
  let doubted = 0;
  const opened = () =>
    suppressions({ db: db(), secrets: keyRing(testKeyRing), clock, noteDoubted: () => void doubted++ });
  const aDispatcher = () => opened().causesOf;

  type Told = { fact: ReceiptFact; country?: string; domain?: string; provider?: string; isAnswer?: true };

  /** Messages to so many new addresses, with what their provider says of them. */
  const told = async (
    count: number,
    { fact, country = "+49", domain, provider = "twilio", ...more }: Told,
  ): Promise<About[]> => {
    const all = Array.from({ length: count }, () => {
      const token = domain === undefined ? `${country}${number++}` : `p${number++}@${domain}`;
      const { subscription, delivery } = aMail(of);
      const channel = domain === undefined ? ("sms" as const) : ("email" as const);
      const address_masked = domain === undefined ? `${token.slice(0, 3)}•••${token.slice(-3)}` : `p•••@${domain}`;
      const row: DeliveryRow = { ...delivery, channel, address_masked, provider };
      const receipt = { deliveryId: row._id, providerId: null, address: token, at: new Date(), ...fact };
      return {
        owner: { ...subscription, channel, token } satisfies SubscriptionRow,
        about: { row, receipt, ...(more.isAnswer && { isAnswer: true as const }) },
      };
    });
    await db()
      .collection<SubscriptionRow>(subscriptionCollection.name)
      .insertMany(all.map(({ owner }) => owner));
    return all.map(({ about }) => about);
  };

  /** How many addresses are believed to be gone, told one after another to one process after another. */
  const believed = async (all: readonly About[]): Promise<number> => {
    const dispatchers = [aDispatcher(), aDispatcher(), aDispatcher()];
    let count = 0;
    for (const [i, about] of all.entries())
      count += (await dispatchers[i % dispatchers.length]?.([about], clock.now()))?.length ?? 0;
    return count;
  };

  it("is not believed in a carrier's bad hour, whichever process hears it, and is again after it", async () => {
    await aDispatcher()(await told(20, { fact: delivered }), clock.now());
    expect(await believed(await told(30, { fact: gone }))).to.equal(10);
    expect(doubted).to.equal(20);
    expect(await believed(await told(1, { fact: gone, country: "+33" }))).to.equal(1);
    await aDispatcher()(await told(20, { fact: delivered }), clock.now());
    expect(await believed(await told(1, { fact: gone }))).to.equal(1);
  });

  it("is believed of a few among many, however they are mixed in what one process hears", async () => {
    const dispatcher = aDispatcher();
    let count = 0;
    for (let n = 0; n < 30; n++) {
      const some = [
        ...(await told(4, { fact: delivered, country: "+44" })),
        ...(await told(1, { fact: gone, country: "+44" })),
      ];
      count += (await dispatcher(some, clock.now())).length;
    }
    expect(count).to.equal(30);
  });

  it("counts once, however often it is told", async () => {
    const [one] = await told(1, { fact: gone, country: "+39" });
    const again = Array.from({ length: 20 }, () => one as About); // there is one
    expect(await believed(again)).to.equal(20);
  });

  it("is doubted of mail only where its provider tells what came through", async () => {
    expect(await believed(await told(15, { fact: hardBounce, domain: "a.example" }))).to.equal(15);
    await aDispatcher()(await told(1, { fact: delivered, domain: "b.example" }), clock.now());
    expect(await believed(await told(1, { fact: hardBounce, domain: "a.example" }))).to.equal(0);
    expect(await believed(await told(1, { fact: hardBounce, domain: "b.example" }))).to.equal(1);
  });

  it("is doubted in answers as in receipts, where receipts tell what came through", async () => {
    const answered = async (country: string): Promise<number> => {
      const all = await told(30, { fact: doubtful, country, provider: "vonage", isAnswer: true });
      const on = (day: number): About[] =>
        all.map(({ receipt, ...one }) => ({ ...one, receipt: { ...receipt, at: new Date(Date.UTC(2026, 0, day)) } }));
      let count = 0;
      for (const day of [1, 2, 3]) count += (await aDispatcher()(on(day), clock.now())).length;
      return count;
    };
    expect(await answered("+84")).to.equal(30);
    await aDispatcher()(await told(1, { fact: delivered, country: "+49", provider: "vonage" }), clock.now());
    expect(await answered("+66")).to.equal(0);
  });

  it("ends an address that may be reached again only on the third day, unless something came through", async () => {
    const [first] = await told(1, { fact: doubtful, country: "+351" });
    if (first === undefined) throw new Error("one was made");
    const { row, receipt } = first;
    const on = (day: number, fact: ReceiptFact): About => {
      const { deliveryId, providerId, address } = receipt;
      return { row, receipt: { deliveryId, providerId, address, at: new Date(Date.UTC(2026, 0, day, 12)), ...fact } };
    };
    const told3 = [on(1, doubtful), on(1, doubtful), on(2, doubtful), on(3, delivered)];
    expect(await believed([...told3, on(3, doubtful), on(4, doubtful)])).to.equal(0);
    expect(await believed([on(5, doubtful)])).to.equal(1);
  });
});

describe("what answers say of addresses", () => {
  const db = testDatabase("answers");
  const now = new Date();
  const opened = () => guard({ verdicts: verdicts(db()) });
  let number = 0;

  /** Answers to one account's pushes, so many of which found no address. */
  const answers = (appId: string, accepted: number, gone: number, revision = 1): Answers<AnsweredGone> => ({
    of: { tenantId: "ten_1", appId },
    channel: "ios_push",
    provider: "apns",
    revision,
    accepted: Array.from({ length: accepted }, () => `dlv_${number++}`),
    gone: Array.from({ length: gone }, () => ({
      deliveryId: `dlv_${number++}`,
      address: "token",
      code: "TOKEN_INVALID" as const,
    })),
  });
  const doubted = async (given: Answers<AnsweredGone>): Promise<number> => (await opened().ofAnswers(given, now)).size;

  it("is judged by what every process heard of the account as it is set up", async () => {
    expect(await doubted(answers("app_1", 0, 1))).to.equal(1);
    await doubted(answers("app_1", 1, 0));
    expect(await doubted(answers("app_1", 0, 1))).to.equal(0);
    expect(await doubted(answers("app_1", 0, 1, 2))).to.equal(1);
  });

  it("is doubted once nearly all of the last twenty say so, whichever process hears them", async () => {
    await doubted(answers("app_2", 2, 0));
    for (let n = 0; n < 18; n++) expect(await doubted(answers("app_2", 0, 1))).to.equal(0);
    expect(await doubted(answers("app_2", 0, 1))).to.equal(1);
    await doubted(answers("app_2", 3, 0));
    expect(await doubted(answers("app_2", 0, 1))).to.equal(0);
  });

  it("is judged by a run alone that is large enough", async () => {
    await doubted(answers("app_3", 20, 0));
    expect(await doubted(answers("app_3", 1, 60))).to.equal(60);
    expect(await doubted(answers("app_3", 99, 20))).to.equal(0);
  });

  it("costs one write in ten minutes and no read where nobody's address is gone", async () => {
    const { find, add } = verdicts(db());
    const calls = { reads: 0, writes: 0 };
    const { ofAnswers } = guard({
      verdicts: {
        find: (ids) => ((calls.reads += Math.min(ids.length, 1)), find(ids)),
        add: (all, at) => ((calls.writes += Math.min(all.length, 1)), add(all, at)),
      },
    });
    const after = (ms: number) => new Date(now.getTime() + ms);
    for (let n = 0; n < 1_000; n++) await ofAnswers(answers("app_4", 1, 0), after(n * 599));
    expect(calls).to.deep.equal({ reads: 0, writes: 1 });
    await ofAnswers(answers("app_4", 1, 0), after(600_000));
    await ofAnswers(answers("app_4", 480, 20), after(600_001));
    expect(calls).to.deep.equal({ reads: 1, writes: 3 });
  });
});
