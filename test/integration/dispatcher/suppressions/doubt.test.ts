import { expect } from "chai";
import type { ReceiptFact } from "#core/domain/messages/receipts.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import type { About } from "../../../../dispatcher/suppressions/causes.ts";
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

describe("what receipts say of addresses", function () {
  this.timeout(60_000);
  const db = testDatabase("doubt");
  const clock = { now: () => new Date() };
  let held = 0;
  const aDispatcher = () =>
    suppressions({ db: db(), secrets: keyRing(testKeyRing), clock, held: () => void held++ }).causesOf;

  type Told = { fact: ReceiptFact; country?: string; domain?: string };

  /** Messages to so many new addresses, with what their provider says of them. */
  const told = async (count: number, { fact, country = "+49", domain }: Told): Promise<About[]> => {
    const all = Array.from({ length: count }, () => {
      const token = domain === undefined ? `${country}${number++}` : `p${number++}@${domain}`;
      const { subscription, delivery } = aMail(of);
      const channel = domain === undefined ? ("sms" as const) : ("email" as const);
      const address_masked = domain === undefined ? `${token.slice(0, 3)}•••${token.slice(-3)}` : `p•••@${domain}`;
      const row: DeliveryRow = { ...delivery, channel, address_masked, provider: "twilio" };
      const receipt = { deliveryId: row._id, providerId: null, address: token, at: new Date(), ...fact };
      return { owner: { ...subscription, channel, token } satisfies SubscriptionRow, about: { row, receipt } };
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
    expect(held).to.equal(20);
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
