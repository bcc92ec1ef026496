import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { AppError, halfDone } from "#core/errors.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { replies, replyCollection } from "#core/storage/service/replies.ts";
import { once } from "../../../../apiserver/http/once.ts";
import type { Attempt } from "../../../../apiserver/http/route.ts";
import { anApp, testKeyRing } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("a refused request with an idempotency key", () => {
  const db = testDatabase("half_done", [replyCollection]);
  const { seal, open } = keyRing(testKeyRing);

  /** The ids that two attempts of one request make users with, the first of which is refused. */
  const idsOf = async (key: string, refuse: () => Promise<never>): Promise<string[]> => {
    const { answer } = once({ replies: replies(db()), leaseMs: 60_000, clock: systemClock, seal, open });
    const asked = { app: anApp({ tenant_id: "ten_1" }), operation: "makeThings", key, fingerprint: "f" };
    const ids: string[] = [];
    const make = async ({ newId }: Attempt) => ({ body: { id: ids[ids.push(newId("user")) - 1] } });
    const first = answer(asked, { status: 201, handle: async (attempt) => (await make(attempt)) && refuse() });
    expect(await first.catch((error: unknown) => error)).to.include({ code: "HS_CONFLICT" });
    await answer(asked, { status: 201, handle: make });
    return ids;
  };
  const refusal = () => new AppError("HS_CONFLICT", "others were quicker");

  it("is gone on with when it was refused after something had been written", async () => {
    const [first, second] = await idsOf("a", async () => halfDone(refusal()));
    expect(second).to.equal(first);
  });

  it("is another one when it has changed nothing", async () => {
    const [first, second] = await idsOf("b", () => Promise.reject(refusal()));
    expect(second).not.to.equal(first);
  });
});
