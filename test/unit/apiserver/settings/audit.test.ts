import { expect } from "chai";
import { AppError } from "#core/errors.ts";
import type { AuditFact } from "#core/queue/audit.ts";
import { auditEvents } from "../../../../apiserver/settings/audit.ts";

const fact: AuditFact = {
  tenantId: "ten_1",
  appId: "app_1",
  actor: { type: "api_key", id: "key_1" },
  action: "webhook.updated",
  target: { type: "webhook", id: "whk_1" },
  changes: {},
  ip: "192.0.2.1",
  requestId: "r-1",
};
const intended = { fact, change: { collection: "webhooks", document_id: "whk_1", kind: "changed" } as const };

type How = { prepareError?: Error; isAwaited?: boolean };

/** Runs a change; tells what happened, in order. */
const run = async (make: (id: string) => Promise<string | null>, { prepareError, isAwaited }: How = {}) => {
  const steps: string[] = [];
  const audit = auditEvents({
    prepare: async () => {
      if (prepareError !== undefined) throw prepareError;
      steps.push("prepared");
      return {
        changeId: "evb_1",
        publish: async () => {
          steps.push("published");
          await new Promise(setImmediate);
          steps.push("acknowledged");
        },
        withdraw: () => void steps.push("withdrawn"),
      };
    },
    clock: { now: () => new Date("2026-11-21T12:00:00Z") },
  });
  const given = isAwaited === undefined ? intended : { ...intended, isAwaited };
  const result = await audit(given, (id) => {
    steps.push(`made ${id}`);
    return make(id);
  }).catch((error: Error) => error.message);
  return { result, steps: [...steps] }; // as they are when it is answered
};
const fail = (error: Error) => async () => {
  throw error;
};

describe("the event of a change", () => {
  it("is stored before the change and published after it", async () => {
    expect(await run(async () => "row")).to.deep.equal({
      result: "row",
      steps: ["prepared", "made evb_1", "published"],
    });
  });

  it("is acknowledged before the change is answered, where events that come later are to heed it", async () => {
    const { steps } = await run(async () => "row", { isAwaited: true });
    expect(steps).to.deep.equal(["prepared", "made evb_1", "published", "acknowledged"]);
  });

  it("is withdrawn when the change could not be made", async () => {
    const { result, steps } = await run(async () => null);
    expect([result, steps.at(-1)]).to.deep.equal([null, "withdrawn"]);
  });

  it("is withdrawn when the change was refused", async () => {
    const { result, steps } = await run(fail(new AppError("HS_CONFLICT", "no")));
    expect([result, steps.at(-1)]).to.deep.equal(["no", "withdrawn"]);
  });

  it("stays stored when nobody knows whether the change was made", async () => {
    const { result, steps } = await run(fail(new Error("connection lost")));
    expect([result, steps.at(-1)]).to.deep.equal(["connection lost", "made evb_1"]);
  });

  it("that cannot be stored has the change not made", async () => {
    expect(await run(async () => "row", { prepareError: new Error("away") })).to.deep.equal({
      result: "away",
      steps: [],
    });
  });
});
