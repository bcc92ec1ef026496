import { expect } from "chai";
import { placesOfOne, sharedPlaces } from "#core/queue/jetstream/shared-places.ts";

/** Consumers that share places, and what each has taken or asked for. */
const consumers = (count: number, shared: ReturnType<typeof sharedPlaces>) =>
  Array.from({ length: count }, () => {
    const one = { held: 0, woken: 0 };
    const places = shared.join(
      () => one.held,
      () => void one.woken++,
    );
    return Object.assign(one, { places });
  });

describe("places that consumers share", () => {
  it("are a few for one that is quiet, and half of what is free for one that is busy", () => {
    const [one, other] = consumers(2, sharedPlaces({ most: 512, own: 16 }));
    if (one === undefined || other === undefined) return expect.fail();
    expect([one.places.mayAsk(false), one.places.mayAsk(true)]).to.deep.equal([16, 256]);
    one.held = 272;
    expect([other.places.mayAsk(false), other.places.mayAsk(true)]).to.deep.equal([16, 128]);
  });

  it("are asked for by a quiet one also while it has its own in hand", () => {
    const [one, other] = consumers(2, sharedPlaces({ most: 32, own: 16 }));
    if (one === undefined || other === undefined) return expect.fail();
    one.held = 20;
    expect(one.places.mayAsk(false)).to.equal(14); // half of what is free
    other.held = 44;
    expect(one.places.mayAsk(false)).to.equal(0);
  });

  it("never come to more than there are, and leave each its own", () => {
    const all = consumers(16, sharedPlaces({ most: 512, own: 16 }));
    for (let round = 0; round < 20; round++) for (const one of all) one.held += Math.max(0, one.places.mayAsk(true));
    const held = all.map((one) => one.held);
    expect(held.reduce((sum, count) => sum + count, 0)).to.be.at.most(512 + 16 * 16);
    expect(Math.min(...held)).to.be.at.least(16);
  });

  it("are given back to the others by one that leaves, and all hear of places that are free again", () => {
    const [one, other] = consumers(2, sharedPlaces({ most: 512, own: 16 }));
    if (one === undefined || other === undefined) return expect.fail();
    one.held = 512 + 16;
    expect(other.places.mayAsk(true)).to.equal(16);
    one.places.freed();
    expect([one.woken, other.woken]).to.deep.equal([1, 1]);
    one.places.leave();
    expect(other.places.mayAsk(true)).to.equal(256);
  });

  it("are all its own for one that shares with nobody", () => {
    const held = 5;
    const places = placesOfOne(8).join(
      () => held,
      () => undefined,
    );
    expect([places.mayAsk(false), places.mayAsk(true)]).to.deep.equal([3, 3]);
  });
});
