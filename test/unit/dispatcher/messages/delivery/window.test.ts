import { expect } from "chai";
import { type SlotOf, unsavedWindow } from "../../../../../dispatcher/messages/delivery/window.ts";

type Slot = ReturnType<typeof unsavedWindow>["slot"];

const oneOf = (account: string, tenantId = `tenant of ${account}`): SlotOf => ({ account, tenantId });

/** Starts `count` runs of one account that go on until they are let go; tells how many are under way. */
const occupy = (slot: Slot, of: SlotOf, count: number) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let underWay = 0;
  const runs = Array.from({ length: count }, () =>
    slot(of, async () => {
      underWay++;
      await promise;
    }),
  );
  return { underWay: () => underWay, letGo: () => (resolve(), Promise.all(runs)) };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("unsaved window", () => {
  it("lets one account take nine tenths of the slots, so that a hanging provider leaves room", async () => {
    const { slot } = unsavedWindow(10);
    const taken = occupy(slot, oneOf("app/ios_push"), 20);
    await settled();
    expect(taken.underWay()).to.equal(9);
    await taken.letGo();
  });

  it("gives an account that takes few at once no more places, so that those who wait for it keep none", async () => {
    const { slot } = unsavedWindow(100);
    const slow = occupy(slot, { ...oneOf("app/email"), atOnce: 16 }, 90);
    const quick = occupy(slot, oneOf("app/ios_push"), 80);
    await settled();
    expect([slow.underWay(), quick.underWay()]).to.deep.equal([16, 80]);
    await Promise.all([slow.letGo(), quick.letGo()]);
  });

  it("leaves a twentieth to others by all accounts of a tenant, so that those that hang do", async () => {
    const { slot } = unsavedWindow(100);
    const hanging = ["a", "b", "c"].map((app) => occupy(slot, oneOf(app, "loud"), 90));
    await settled();
    expect(hanging.reduce((sum, one) => sum + one.underWay(), 0)).to.equal(95);
    const other = occupy(slot, oneOf("d", "other"), 90);
    await settled();
    expect(other.underWay()).to.equal(5);
    await Promise.all([...hanging, other].map((one) => one.letGo()));
  });

  it("never has more recipients handed over and unsaved than its limit", async () => {
    const { slot, taken } = unsavedWindow(10);
    const accounts = [occupy(slot, oneOf("a"), 20), occupy(slot, oneOf("b"), 20), occupy(slot, oneOf("c"), 20)];
    await settled();
    expect(taken()).to.equal(10);
    await Promise.all(accounts.map((account) => account.letGo()));
    expect(taken()).to.equal(0);
  });

  it("frees the slot of a recipient whose run fails", async () => {
    const { slot } = unsavedWindow(1);
    const failed = await slot(oneOf("a"), () => Promise.reject(new Error("away"))).catch(
      (error: Error) => error.message,
    );
    expect(failed).to.equal("away");
    await slot(oneOf("a"), () => Promise.resolve());
  });
});
