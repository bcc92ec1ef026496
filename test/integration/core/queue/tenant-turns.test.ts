import { expect } from "chai";
import { tenantPlaces } from "#core/queue/jetstream/tenant-places.ts";
import { tenantTurns } from "#core/queue/jetstream/tenant-turns.ts";
import type { HandlerContext } from "#core/queue/jetstream/worker.ts";
import { until } from "../../../support/until.ts";
import { queueOfSuite } from "./helpers.ts";

const tenantOf = (subject: string): string => subject.split(".").at(-1) ?? "";

describe("a worker whose places tenants share", () => {
  const { publish, startWorker } = queueOfSuite("tenant-turns");

  it("hands on a tenant's message while another's wait, and each of those once, as a first delivery", async () => {
    for (let n = 0; n < 16; n++) await publish({ n }, "flooding");
    await publish({ n: 16 }, "other");
    const seen: (Pick<HandlerContext, "subject" | "attempt" | "isRepeated"> & { n: number })[] = [];
    const answer = Promise.withResolvers<void>();
    await startWorker({
      parse: (input) => input as { n: number }, // as it was published
      handle: async ({ n }, { subject, attempt, isRepeated }) => {
        seen.push({ n, subject, attempt, isRepeated });
        if (tenantOf(subject) === "flooding") await answer.promise;
        return { kind: "done" };
      },
      turns: tenantTurns(tenantPlaces(8), tenantOf),
    });
    await until(() => seen.some(({ subject }) => tenantOf(subject) === "other"));
    expect(seen).to.have.length(5); // half of the places, and the other's one
    answer.resolve();
    await until(() => seen.length >= 17);
    expect(new Set(seen.map(({ n }) => n)).size).to.equal(17);
    expect(seen.every(({ attempt, isRepeated }) => attempt === 1 && !isRepeated)).to.equal(true);
  });
});
