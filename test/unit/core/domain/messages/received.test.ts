import { expect } from "chai";
import type { Happened } from "#core/domain/exports/message-events.ts";
import type { Progress } from "#core/domain/messages/progress.ts";
import { failureTakenBack, newlyReceived, type Received, receivedAt } from "#core/domain/messages/received.ts";

const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 27, 12, minute));
const sent = { status: "sent" as const, sent_at: at(0), created_at: at(1) };
type Before = Progress & { created_at: Date; received?: Received };

describe("when what happened to a delivery was stored", () => {
  const changes: { it: string; before: Before; after: Progress; adds: Received }[] = [
    {
      it: "is the change that brought it",
      before: sent,
      after: { ...sent, opened_at: at(3) },
      adds: { opened: at(9) },
    },
    {
      it: "stays when a provider names an earlier instant",
      before: { ...sent, opened_at: at(5), received: { opened: at(6) } },
      after: { ...sent, opened_at: at(3) },
      adds: {},
    },
    {
      it: "stays that of the delivery for what came with it",
      before: sent,
      after: { ...sent, sent_at: at(2) },
      adds: {},
    },
    {
      it: "is kept of a failure that is taken back",
      before: { ...sent, failed_at: at(1) },
      after: sent,
      adds: { failed: at(1) },
    },
    {
      it: "is not told again of one that fails once more",
      before: { ...sent, received: { failed: at(1) } },
      after: { ...sent, failed_at: at(8) },
      adds: {},
    },
    {
      it: "tells programs from people",
      before: { ...sent, machine_opened_at: at(2), received: { machine_opened: at(2) } },
      after: { ...sent, machine_opened_at: at(2), opened_at: at(4) },
      adds: { opened: at(9) },
    },
  ];
  for (const { it: what, before, after, adds } of changes)
    it(what, () => expect(newlyReceived(before, after, at(9))).to.deep.equal(adds));

  it("is looked up by what happened, and is that of the delivery where nothing else is said", () => {
    const received = { failed: at(4), machine_opened: at(5) };
    const of = (happened: Omit<Happened, "at">) =>
      receivedAt({ received, created_at: at(1) }, { ...happened, at: at(0) });
    expect(of({ event: "errored" })).to.deep.equal(at(4));
    expect(of({ event: "opened", isOfMachine: true })).to.deep.equal(at(5));
    expect(of({ event: "opened" })).to.deep.equal(at(1));
  });

  it("is all that is left of a failure that was taken back", () => {
    expect(failureTakenBack({ ...sent, received: { failed: at(4) } })).to.deep.equal({ event: "failed", at: at(4) });
    expect(failureTakenBack({ ...sent, failed_at: at(4), received: { failed: at(4) } })).to.equal(null);
    expect(failureTakenBack(sent)).to.equal(null);
  });
});
