import { expect } from "chai";
import { revived, statusChange } from "../../../../apiserver/people/register-subscription.ts";
import { aSubscription } from "../../../support/rows/fixtures.ts";

const before = new Date("2026-03-01T12:00:00Z");
const now = new Date("2026-04-01T12:00:00Z");
const of = { tenant_id: "ten_1", app_id: "app_1" };
const subscribed = aSubscription(of);
const unsubscribed = aSubscription({ ...of, status: "unsubscribed", status_reason: "api", unsubscribed_at: before });
const gone = { status: "invalid", status_reason: "token_invalid" } as const;

describe("an address that is given again", () => {
  for (const { it: name, read, becomes } of [
    { it: "stays subscribed", read: subscribed, becomes: {} },
    { it: "stays unsubscribed", read: unsubscribed, becomes: {} },
    {
      it: "is good again when it was invalid",
      read: { ...subscribed, ...gone },
      becomes: { status: "subscribed", status_reason: null, invalid_since: null, resubscribed_at: now },
    },
    {
      it: "is unsubscribed when it had been before it became invalid",
      read: { ...unsubscribed, ...gone },
      becomes: { status: "unsubscribed", status_reason: "api", invalid_since: null },
    },
  ]) {
    it(name, () => expect(revived(read, now)).to.deep.equal(becomes));
  }
});

describe("a status that is asked for", () => {
  for (const { it: name, read, status, becomes } of [
    { it: "changes nothing that is so already", read: unsubscribed, status: "unsubscribed" as const, becomes: {} },
    {
      it: "subscribes",
      read: { ...unsubscribed, ...gone },
      status: "subscribed" as const,
      becomes: {
        status: "subscribed",
        status_reason: null,
        unsubscribed_at: null,
        invalid_since: null,
        resubscribed_at: now,
      },
    },
    {
      it: "unsubscribes now",
      read: subscribed,
      status: "unsubscribed" as const,
      becomes: { status: "unsubscribed", status_reason: "api", unsubscribed_at: now },
    },
    {
      it: "keeps since when somebody is unsubscribed",
      read: { ...unsubscribed, ...gone },
      status: "unsubscribed" as const,
      becomes: { status: "unsubscribed", status_reason: "api", unsubscribed_at: before, invalid_since: null },
    },
  ]) {
    it(name, () => expect(statusChange(read, status, now)).to.deep.equal(becomes));
  }
});
