import type { Db } from "mongodb";
import { shownAccounts } from "#core/channels/accounts.ts";
import { accountResult, nextCheckMs } from "#core/domain/apps/account-check.ts";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { NotBegun, type Outcome, unreached } from "#core/domain/messages/outcome.ts";
import type { Announcer } from "#core/queue/announce.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import {
  type AccountCheckRow,
  accountCheckCollection,
  accountChecks,
  type LastCheck,
} from "#core/storage/apps/account-checks.ts";
import { type AppRow, appCollection, apps } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { OpenAccount } from "../channels/accounts.ts";
import { openOr } from "../channels/registry.ts";
import type { Job, JobResult, Progress } from "./job.ts";
import { job } from "./run.ts";

export type AccountCheckJobDeps = {
  db: Db;
  openAccount: OpenAccount;
  announcer: Announcer;
  /** Aborts when the program stops. */
  stopping: AbortSignal;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Pick<Metrics<"dispatcher">, "accountChecks">;
  /** Another bound of a check, for tests. */
  timeoutMs?: number;
};

/** For all of a check, its connection too: providers answer in a second, mail servers in ten. */
const usualTimeoutMs = 20_000;

/** Connection tests of apps' accounts: docs/decisions/0063. */
export const accountCheckJob = (deps: AccountCheckJobDeps): Job => {
  const checks = accountChecks(deps.db);
  const { find } = apps(deps.db);
  return job<AccountCheckRow>({
    name: "account_checks",
    rows: collectionOf<AccountCheckRow>(deps.db, accountCheckCollection),
    isShort: true,
    run: async (row, progress) => {
      const app = await find(row.app_id);
      const account = shownAccounts(app?.channels ?? {}).find(({ channel }) => channel === row.channel);
      if (app !== null && account !== undefined) return check(deps, { row, app, provider: account.provider, progress });
      await checks.drop(row);
      return { end: null, facts: { isGone: true } };
    },
  });
};

type Checking = { row: AccountCheckRow; app: AppRow; provider: string; progress: Progress };

const check = async (
  deps: AccountCheckJobDeps,
  { row, app, provider, progress }: Checking,
): Promise<JobResult<AccountCheckRow>> => {
  const { channel } = row;
  const outcome = await ask(deps, app, channel);
  progress(1); // throws when the program stops: what was cut off says nothing of the account
  const last = lastOf(row, outcome, { revision: app.channels_revision, now: deps.clock.now() });
  const { result, reason, provider_code: providerCode } = last;
  return {
    end: { dueAt: dueAfter(deps, last), set: { last } },
    facts: { channel, provider, account: result, reason, providerCode },
    after: () => {
      deps.metrics.accountChecks.inc({ channel, result });
      deps.announcer.changed(appCollection.name, app._id, app._id); // whoever shows the app shows this, too
    },
  };
};

/** Opens the account anew: a connection that stands says nothing of credentials that were changed since. */
const ask = async (
  { openAccount, stopping, clock, log, timeoutMs = usualTimeoutMs }: AccountCheckJobDeps,
  app: AppRow,
  channel: Channel,
): Promise<Outcome> => {
  const account = openOr({ open: openAccount, log }, app, channel);
  try {
    return await account.check(AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]));
  } catch (error) {
    if (error instanceof NotBegun) return unreached("no answer in time", clock.now(), "provider");
    throw error;
  } finally {
    await account.close();
  }
};

const lastOf = (
  { last }: AccountCheckRow,
  outcome: Outcome,
  { revision, now }: { revision: number; now: Date },
): LastCheck => {
  const result = accountResult(outcome);
  const isAgain = last?.result === result && last.revision === revision;
  const said = result !== "verified" && "reason" in outcome ? outcome : null;
  return {
    result,
    reason: said?.reason ?? null,
    provider_code: said !== null && "providerCode" in said ? said.providerCode : null,
    revision,
    times: isAgain ? last.times + 1 : 1,
    checked_at: now,
    since: isAgain ? last.since : now,
  };
};

const dueAfter = ({ clock, random }: AccountCheckJobDeps, { result, times }: LastCheck): Date =>
  new Date(clock.now().getTime() + nextCheckMs(result, times, random));
