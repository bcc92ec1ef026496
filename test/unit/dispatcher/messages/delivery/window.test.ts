import { expect } from "chai";
import { unsavedWindow } from "../../../../../dispatcher/messages/delivery/window.ts";

/** Starts `count` runs of one account that go on until they are let go; tells how many are under way. */
const occupy = (slot: ReturnType<typeof unsavedWindow>["slot"], account: string, count: number, atOnce?: number) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let underWay = 0;
  const runs = Array.from({ length: count }, () =>
    slot(
      account,
      async () => {
        underWay++;
        await promise;
      },
      atOnce,
    ),
  );
  return { underWay: () => underWay, letGo: () => (resolve(), Promise.all(runs)) };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("unsaved window", () => {
  it("lets one account take nine tenths of the slots, so that a hanging provider leaves room", async () => {
    const { slot } = unsavedWindow(10);
    const taken = occupy(slot, "app/ios_push", 20);
    await settled();
    expect(taken.underWay()).to.equal(9);
    await taken.letGo();
  });

  it("gives an account that takes few at once no more places, so that those who wait for it keep none", async () => {
    const { slot } = unsavedWindow(100);
    const [slow, quick] = [occupy(slot, "app/email", 90, 16), occupy(slot, "app/ios_push", 80)];
    await settled();
    expect([slow.underWay(), quick.underWay()]).to.deep.equal([16, 80]);
    await Promise.all([slow.letGo(), quick.letGo()]);
  });

  it("never has more recipients handed over and unsaved than its limit", async () => {
    const { slot, taken } = unsavedWindow(10);
    const accounts = [occupy(slot, "a", 20), occupy(slot, "b", 20), occupy(slot, "c", 20)];
    await settled();
    expect(taken()).to.equal(10);
    await Promise.all(accounts.map((account) => account.letGo()));
    expect(taken()).to.equal(0);
  });

  it("frees the slot of a recipient whose run fails", async () => {
    const { slot } = unsavedWindow(1);
    const failed = await slot("a", () => Promise.reject(new Error("away"))).catch((error: Error) => error.message);
    expect(failed).to.equal("away");
    await slot("a", () => Promise.resolve());
  });
});
