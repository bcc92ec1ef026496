import { expect } from "chai";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
import { invalidationGuard } from "../../../../dispatcher/channels/invalidation-guard.ts";

const sent: Outcome = { kind: "sent", providerId: null };
const gone: Outcome = { kind: "token_invalid", code: "TOKEN_INVALID", providerCode: "400", reason: "bad" };
const busy: Outcome = { ...gone, kind: "retry_at", code: "PROVIDER_UNAVAILABLE", at: new Date() };

const times = (count: number, outcome: Outcome): Outcome[] => Array.from({ length: count }, () => outcome);

type Case = {
  it: string;
  /** Attempts of the account before the run. */
  before?: Outcome[];
  run: { accepted: number; gone: number };
  code?: DeliveryErrorCode;
  believes: boolean;
};

const cases: Case[] = [
  { it: "one of many", run: { accepted: 99, gone: 1 }, believes: true },
  { it: "a tenth of a run that is large enough to judge by", run: { accepted: 2, gone: 18 }, believes: true },
  { it: "nearly all of a run", run: { accepted: 1, gone: 19 }, believes: false },
  {
    it: "all of a run, after many that were accepted",
    before: times(20, sent),
    run: { accepted: 0, gone: 60 },
    believes: false,
  },
  {
    it: "all of a run that were unregistered",
    run: { accepted: 0, gone: 60 },
    code: "TOKEN_UNREGISTERED",
    believes: false,
  },
  { it: "one of an account that has reached nobody yet", run: { accepted: 0, gone: 1 }, believes: false },
  {
    it: "one that is unregistered, of an account that has reached nobody yet",
    run: { accepted: 0, gone: 1 },
    code: "TOKEN_UNREGISTERED",
    believes: true,
  },
  { it: "one of an account that reaches others", before: [sent], run: { accepted: 0, gone: 1 }, believes: true },
  { it: "one beside a good one", run: { accepted: 1, gone: 1 }, believes: true },
  {
    it: "one after nineteen others",
    before: times(19, gone),
    run: { accepted: 0, gone: 1 },
    code: "TOKEN_UNREGISTERED",
    believes: false,
  },
  {
    it: "one after many others, when some have been accepted since",
    before: [...times(30, gone), ...times(2, sent)],
    run: { accepted: 0, gone: 1 },
    believes: true,
  },
  { it: "one when the others got no verdict", before: times(20, busy), run: { accepted: 0, gone: 1 }, believes: false },
];

describe("the guard against mass invalidation", () => {
  for (const { it: name, before = [], run, code = "TOKEN_INVALID", believes } of cases)
    it(`${believes ? "believes" : "doubts"} ${name}`, () => {
      const guard = invalidationGuard();
      for (const outcome of [...before, ...times(run.gone, { ...gone, code }), ...times(run.accepted, sent)])
        guard.observe(outcome);
      expect(guard.believes(run, code)).to.equal(believes);
    });
});
