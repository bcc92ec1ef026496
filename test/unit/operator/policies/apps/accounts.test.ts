import { expect } from "chai";
import type { ChannelAccounts } from "#core/channels/accounts.ts";
import type { Sealed } from "#core/runtime/process/key-ring.ts";
import type { AccountCheckRow, LastCheck } from "#core/storage/apps/account-checks.ts";
import { noWork } from "#core/storage/work/due.ts";
import {
  accountsStatus,
  accountsVerified,
  testedAccounts,
  unasked,
} from "../../../../../operator/policies/apps/accounts.ts";

const sealed = {} as Sealed; // nobody opens it
const at = new Date("2026-11-22T10:00:00Z");
const channels: ChannelAccounts<Sealed> = {
  ios_push: { team_id: "T", key_id: "K", bundle_id: "B", environment: "production", private_key: sealed },
  web_push: { subject: "mailto:ops@example.com", public_key: "P", private_key: sealed },
};
const app = { channels, channels_revision: 3 };

const verified: LastCheck = {
  result: "verified",
  reason: null,
  provider_code: null,
  revision: 3,
  times: 1,
  checked_at: at,
  since: at,
};
const refused: LastCheck = {
  ...verified,
  result: "refused",
  reason: "APNs refused the push: InvalidProviderToken",
  provider_code: "403 InvalidProviderToken",
};
const unreached: LastCheck = { ...verified, result: "unreached", reason: "no answer in time" };

const rowsOf = (checks: Record<string, LastCheck | null>, revision = 3) =>
  new Map(
    Object.entries(checks).map(([channel, last]) => {
      const row = { ...noWork, _id: `app_1/${channel}`, tenant_id: "ten_1", app_id: "app_1", channel, revision, last };
      return [channel, row as AccountCheckRow] as const; // the cases name channels that there are
    }),
  );

describe("the condition AccountsVerified", () => {
  const cases: {
    it: string;
    checks: Record<string, LastCheck | null>;
    status: string;
    reason: string;
    says: RegExp;
  }[] = [
    {
      it: "is True when every provider takes its account",
      checks: { ios_push: verified, web_push: verified },
      status: "True",
      reason: "AccountsAccepted",
      says: /take/,
    },
    {
      it: "names channel, provider and the provider's own word of an account that is refused",
      checks: { ios_push: refused, web_push: unreached },
      status: "False",
      reason: "AccountRefused",
      says: /^ios_push \(apns\): APNs refused the push: InvalidProviderToken, 403 InvalidProviderToken$/,
    },
    {
      it: "is Unknown while a provider is not reached",
      checks: { ios_push: verified, web_push: unreached },
      status: "Unknown",
      reason: "ProviderUnreached",
      says: /^web_push \(web_push\): no answer in time$/,
    },
    {
      it: "is Unknown until the first test",
      checks: { ios_push: null },
      status: "Unknown",
      reason: "AccountNotChecked",
      says: /ios_push \(apns\); web_push/,
    },
    {
      it: "does not go by what was found before the accounts changed",
      checks: { ios_push: { ...refused, revision: 2 }, web_push: { ...verified, revision: 2 } },
      status: "Unknown",
      reason: "AccountNotChecked",
      says: /ios_push/,
    },
  ];
  for (const { it: name, checks, status, reason, says } of cases) {
    it(name, () => {
      const finding = accountsVerified(testedAccounts(app, rowsOf(checks)));
      expect(finding).to.include({ status, reason });
      expect(finding.message).to.match(says);
    });
  }

  it("says of a mail server that keeps silent what keeps private networks away", () => {
    const mail = { channels: { email: {} }, channels_revision: 3 } as unknown as typeof app; // as far as it is looked at
    const silent = { ...unreached, provider_code: "ETIMEDOUT" };
    expect(accountsVerified(testedAccounts(mail, rowsOf({ email: silent }))).message).to.match(
      /no answer in time, ETIMEDOUT\. A mail server in a private network is reached when outgoing\.allowedRanges names it$/,
    );
  });

  it("is True of an app that has no account", () => {
    const none = { channels: {}, channels_revision: 1 };
    expect(accountsVerified(testedAccounts(none, rowsOf({ email: refused })))).to.include({
      status: "True",
      reason: "NoAccounts",
    });
  });
});

describe("the accounts in the status of an App", () => {
  it("have the result and the time of a test only when there was one of them as they are", () => {
    const checks = rowsOf({ ios_push: refused, web_push: { ...verified, revision: 2 } });
    expect(accountsStatus(testedAccounts(app, checks))).to.deep.equal([
      { channel: "ios_push", provider: "apns", result: "refused", checkedAt: at.toISOString() },
      { channel: "web_push", provider: "web_push" },
    ]);
  });
});

describe("the accounts that are to be tested", () => {
  it("are those that nobody has asked for since they changed", () => {
    expect(unasked(app, new Map())).to.deep.equal(["ios_push", "web_push"]);
    expect(unasked(app, rowsOf({ ios_push: null }))).to.deep.equal(["web_push"]);
    expect(unasked(app, rowsOf({ ios_push: null, web_push: refused }, 2))).to.deep.equal(["ios_push", "web_push"]);
  });
});
