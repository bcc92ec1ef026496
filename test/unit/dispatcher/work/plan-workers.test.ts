import { expect } from "chai";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { planWorkers } from "../../../../dispatcher/work/plan-workers.ts";
import { until } from "../../../support/until.ts";

const running = new AbortController().signal;

/** Plan workers that only record what is asked of them. */
const given = (names: string[], change: { start?: (plan: string) => Promise<void>; stop?: Part["stop"] } = {}) => {
  const did: string[] = [];
  const errors: unknown[] = [];
  let listen: (collection: string) => void = () => undefined;
  const part = planWorkers({
    plans: async () => [...names],
    open: (plan) => [
      {
        name: plan,
        start: async () => {
          await change.start?.(plan);
          did.push(`start ${plan}`);
        },
        stop: async (signal) => {
          did.push(`stop ${plan}`);
          await change.stop?.(signal);
          did.push(`stopped ${plan}`);
        },
      },
    ],
    onChange: (listener) => {
      listen = listener;
    },
    everyMs: 60_000,
    retryMs: 20,
    onError: (error) => errors.push(error),
  });
  return { part, did, errors, announce: () => listen("plans") };
};

describe("the workers of plans", () => {
  it("run for every plan, also for one that is made later, until it is gone", async () => {
    const names = ["free"];
    const { part, did, announce } = given(names);
    await part.start(running);
    names.push("growth");
    announce();
    await until(() => did.length === 2);
    names.shift();
    announce();
    await until(() => did.length === 4);
    await part.stop(running);
    const wanted = ["start free", "start growth", "stop free", "stopped free", "stop growth", "stopped growth"];
    expect(did).to.deep.equal(wanted);
  });

  it("are tried again when they did not start, and keep no other plan from starting", async () => {
    let failures = 2;
    const start = async (plan: string) => {
      if (plan === "free" && failures-- > 0) throw new Error("not now");
    };
    const { part, did, errors } = given(["free", "growth"], { start });
    await part.start(running);
    expect(did).to.include("start growth").and.not.include("start free");
    await until(() => did.includes("start free"));
    expect(errors).to.have.length(2);
    await part.stop(running);
    expect(did.filter((what) => what === "stopped free")).to.have.length(3); // what had failed half-way, too
  });

  it("of a plan that is gone finish what is in hand without holding up the next plan", async () => {
    const names = ["free"];
    const inHand = Promise.withResolvers<void>();
    const { part, did, announce } = given(names, { stop: () => inHand.promise });
    await part.start(running);
    names.splice(0, 1, "growth");
    announce();
    await until(() => did.includes("start growth"));
    let isStopped = false;
    const stopping = part.stop(running).then(() => (isStopped = true));
    await until(() => did.includes("stop growth"));
    expect(isStopped).to.equal(false);
    inHand.resolve();
    await stopping;
    expect(did).to.include("stopped free").and.include("stopped growth");
  });

  it("learn when the grace is over, also those of a plan that was removed before", async () => {
    const names = ["free"];
    const grace = new AbortController();
    const heedful: Part["stop"] = (signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    const { part, did, announce } = given(names, { stop: heedful });
    await part.start(running);
    names.splice(0, 1, "growth");
    announce();
    await until(() => did.includes("start growth"));
    const stopping = part.stop(grace.signal);
    await until(() => did.includes("stop growth"));
    grace.abort();
    await stopping;
    expect(did).to.include("stopped free").and.include("stopped growth");
  });
});
