import { expect } from "chai";
import { createLog } from "#core/runtime/process/log.ts";
import type { HealthNote, WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import { healthNotes, type Noted } from "../../../../../dispatcher/webhooks/health/notes.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";

/** Notes whose writes do what a test says. */
const setUp = (noteHealth: WebhookWork["noteHealth"] = async () => true) => {
  const writes: string[][] = [];
  const announced: string[] = [];
  const notes = healthNotes({
    endpoints: {
      noteHealth: (all: readonly HealthNote[]) => {
        writes.push(all.map(({ row }) => row._id));
        return noteHealth(all);
      },
      announce: ({ _id }) => void announced.push(_id),
    },
    log: createLog({ program: "dispatcher", level: "fatal" }),
  });
  const anEndpoint = (id: string, over: Partial<Noted> = {}): Noted & { written: number; changes: number } => {
    const row = aWebhook({ _id: id });
    const made = { row, health: row, isLost: false, mayWrite: () => true, written: 0, changes: 0, ...over };
    return Object.assign(made, { wrote: () => void made.written++, changed: () => void made.changes++ });
  };
  return { notes, writes, announced, anEndpoint };
};

describe("the health of endpoints", () => {
  it("is written for many in one command, each once", async () => {
    const { notes, writes, anEndpoint } = setUp();
    const [one, other] = [anEndpoint("whk_1"), anEndpoint("whk_2")];
    for (const endpoint of [one, other, one]) notes.add(endpoint, false);
    await notes.flush();
    await notes.flush();
    expect(writes).to.deep.equal([["whk_1", "whk_2"]]);
    expect([one.written, other.written, notes.has(one)]).to.deep.equal([1, 1, false]);
  });

  it("is announced when an endpoint begins or ends to fail", async () => {
    const { notes, announced, anEndpoint } = setUp();
    notes.add(anEndpoint("whk_1"), false);
    notes.add(anEndpoint("whk_2", { health: { ...aWebhook(), status: "failing" } }), true);
    await notes.flush();
    expect(announced).to.deep.equal(["whk_2"]);
  });

  it("is not written of what another process owns now, and kept while it is not known who does", async () => {
    const { notes, writes, anEndpoint } = setUp();
    const [lost, unsure] = [anEndpoint("whk_1", { isLost: true }), anEndpoint("whk_2", { mayWrite: () => false })];
    for (const endpoint of [lost, unsure]) notes.add(endpoint, true);
    await notes.flush();
    expect([writes, notes.has(lost), notes.has(unsure)]).to.deep.equal([[], false, true]);
  });

  it("is kept when the store is away, and read again when not all of it was written", async () => {
    let isAway = true;
    const { notes, writes, anEndpoint } = setUp(() =>
      isAway ? Promise.reject(new Error("away")) : Promise.resolve(false),
    );
    const endpoint = anEndpoint("whk_1");
    notes.add(endpoint, true);
    expect(await notes.flush().catch((error: Error) => error.message)).to.equal("away");
    expect([notes.has(endpoint), endpoint.written]).to.deep.equal([true, 0]);
    isAway = false;
    await notes.flush();
    expect([writes.length, endpoint.changes]).to.deep.equal([2, 1]);
  });
});
