import { expect } from "chai";
import type { Hint } from "#core/queue/jetstream/hint.ts";
import { tenantPlaces } from "#core/queue/jetstream/tenant-places.ts";
import { tenantTurns } from "#core/queue/jetstream/tenant-turns.ts";

/** A clock, the places of a process, and the turns of one consumer of it. */
const setUp = (most: number) => {
  const clock = { ms: 1_000_000 };
  const places = tenantPlaces(most, () => clock.ms);
  const delaysMs: number[] = [];
  const turnsOf = () =>
    tenantTurns(
      places,
      (subject) => subject,
      () => clock.ms,
    );
  const hint = (tenant: string, sequence: number, attempt = 1): Hint => ({
    subject: tenant,
    sequence,
    attempt,
    bytes: 1,
    traceparent: null,
    mayBeRepeated: false,
    json: () => null,
    ack: () => undefined,
    nak: (delayMs = 0) => void delaysMs.push(delayMs),
    term: () => undefined,
    working: () => undefined,
  });
  return { clock, places, delaysMs, turnsOf, turns: turnsOf(), hint };
};

describe("the turns of tenants", () => {
  it("give one half of what the others leave, over all consumers, and at least one message", () => {
    const { turns, turnsOf, hint } = setUp(8);
    const another = turnsOf();
    const taken = (of: typeof turns, tenant: string, first: number): number =>
      Array.from({ length: 10 }, (_, n) => of.take(hint(tenant, first + n), 1)).filter((turn) => turn !== null).length;
    expect([taken(turns, "a", 0), taken(another, "a", 100)]).to.deep.equal([4, 0]);
    expect([taken(another, "b", 200), taken(turns, "c", 300), taken(turns, "d", 400)]).to.deep.equal([2, 1, 1]);
  });

  it("give a tenant room again for what it gives back", () => {
    const { turns, hint } = setUp(4);
    const first = turns.take(hint("a", 1), 1);
    turns.take(hint("a", 2), 1);
    expect(turns.take(hint("a", 3), 1)).to.equal(null);
    first?.free();
    expect(turns.take(hint("a", 4), 1)).to.not.equal(null);
  });

  it("have a message come again when the tenant has probably had room, many at the same time", () => {
    const { clock, turns, delaysMs, hint } = setUp(4);
    for (let n = 0; n < 2; n++) turns.take(hint("a", n), 1); // each takes half a second, as far as is known
    for (let n = 10; n < 30; n++) turns.take(hint("a", n), 1);
    expect(delaysMs).to.have.length(20);
    expect([delaysMs[0], delaysMs.at(-1)]).to.deep.equal([250, 5_000]);
    expect(delaysMs.every((delayMs) => (clock.ms + delayMs) % 250 === 0)).to.equal(true);
    for (let n = 30; n < 230; n++) turns.take(hint("a", n), 1);
    expect(Math.max(...delaysMs)).to.equal(10_000);
  });

  it("do not count deliveries that were only deferred", () => {
    const { turns, hint } = setUp(2);
    const first = turns.take(hint("a", 1), 1);
    expect(turns.take(hint("a", 2), 1)).to.equal(null);
    expect(turns.take(hint("a", 2, 2), 1)).to.equal(null);
    first?.free();
    expect(turns.take(hint("a", 2, 3), 1)?.hint.attempt).to.equal(1);
  });

  it("count all deliveries of a message that another process had in between, or that was deferred before this one had it", () => {
    const { turns, turnsOf, hint } = setUp(2);
    const first = turns.take(hint("a", 1), 1);
    turns.take(hint("a", 2), 1);
    first?.free();
    expect(turns.take(hint("a", 2, 3), 1)?.hint.attempt).to.equal(3);
    expect(turnsOf().take(hint("b", 3, 2), 1)?.hint.attempt).to.equal(2);
  });

  it("remember that a deferred message may be repeated", () => {
    const { turns, hint } = setUp(2);
    const first = turns.take(hint("a", 1), 1);
    turns.take({ ...hint("a", 2), mayBeRepeated: true }, 1);
    first?.free();
    expect(turns.take(hint("a", 2, 2), 1)?.hint.mayBeRepeated).to.equal(true);
  });
});
