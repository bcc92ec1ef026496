import { expect } from "chai";
import { NotBegun, type Outcome } from "#core/domain/messages/outcome.ts";
import { semaphore } from "#core/runtime/batching/bounded.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { DeliverDeps } from "../../../../../dispatcher/messages/delivery/deliver-deps.ts";
import type { Gate } from "../../../../../dispatcher/messages/gates/gate.ts";
import { aLease } from "../../../../support/rows/work.ts";
import { until } from "../../../../support/until.ts";
import { aSender, type Change, given, work } from "./run.ts";

describe("a send that is under way leaves out those who opt out", () => {
  const optedOut = new Set<string>();
  let opened = 0;
  const gate: Gate = () => {
    opened++;
    const known = new Set(optedOut); // as it was when it was opened
    return ({ _id }) => (known.has(_id) ? "suppression_carrier_opt_out" : null);
  };
  beforeEach(() => {
    optedOut.clear();
    opened = 0;
  });
  /** Opts others out, and waits until the gate has been opened since. */
  const optOut = async (...ids: string[]): Promise<void> => {
    for (const id of ids) optedOut.add(id);
    const before = opened;
    await until(() => opened > before + 1);
  };
  const reasonsOf = ({ stored }: { stored: readonly DeliveryRow[] }) =>
    Object.fromEntries(stored.map((row) => [row.subscription_id, row.suppression_reason ?? row.status]));
  const all = ["sub_1", "sub_2", "sub_3"];
  const expected = { sub_1: "sent", sub_2: "suppression_carrier_opt_out", sub_3: "suppression_carrier_opt_out" };

  it("while they wait for their slot", async () => {
    const slots = semaphore(1);
    const slot: DeliverDeps["window"]["slot"] = (_account, run) => slots.run(run);
    const sender: Change["sender"] = async () => ({
      ...aSender,
      prepare: () => async () => {
        await optOut("sub_2", "sub_3");
        return { kind: "sent", providerId: null };
      },
    });
    const { run } = given({ gates: [gate], gatesEveryMs: 1, window: { slot }, sender });
    const delivered = await run(work(all), aLease());
    expect(reasonsOf(delivered)).to.deep.equal(expected);
    expect(delivered.halted).to.equal(false);
  });

  it("while they wait for their turn at the provider", async () => {
    const turns = semaphore(1);
    const sender: Change["sender"] = async () => ({
      ...aSender,
      prepare: () => (to, _signal, isOver) =>
        turns.run(async () => {
          if (isOver()) throw new NotBegun();
          if (to.subscriptionId === "sub_1") await optOut("sub_2", "sub_3");
          return { kind: "sent", providerId: null };
        }),
    });
    const { run } = given({ gates: [gate], gatesEveryMs: 1, sender });
    const delivered = await run(work(all), aLease());
    expect(reasonsOf(delivered)).to.deep.equal(expected);
    expect(delivered.halted).to.equal(false);
  });

  it("and goes on by what it knows while the store is away", async () => {
    const away: Gate = () => {
      if (opened++ > 0) throw new Error("away");
      return ({ _id }) => (_id === "sub_2" ? "suppression_manual" : null);
    };
    const answer = async (): Promise<Outcome> => {
      await until(() => opened > 2);
      return { kind: "sent", providerId: null };
    };
    const sender: Change["sender"] = async () => ({ ...aSender, prepare: () => answer });
    const { run } = given({ gates: [away], gatesEveryMs: 1, sender });
    expect(reasonsOf(await run(work(["sub_1", "sub_2"]), aLease()))).to.deep.equal({
      sub_1: "sent",
      sub_2: "suppression_manual",
    });
  });
});
