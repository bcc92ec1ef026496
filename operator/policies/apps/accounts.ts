import { shownAccounts } from "#core/channels/accounts.ts";
import type { AccountCheckRows, LastCheck } from "#core/storage/apps/account-checks.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type Finding, refused, waiting } from "../conditions.ts";

/** The accounts of an app, and what their last connection test found; null: none since the accounts changed. */
export type TestedAccount = { channel: string; provider: string; last: LastCheck | null };

export const testedAccounts = (
  { channels, channels_revision: revision }: Pick<AppRow, "channels" | "channels_revision">,
  checks: AccountCheckRows,
): TestedAccount[] =>
  shownAccounts(channels).map(({ channel, provider }) => {
    const last = checks.get(channel)?.last ?? null;
    return { channel, provider, last: last?.revision === revision ? last : null };
  });

/** The channels whose accounts nobody has asked to be tested since they changed. */
export const unasked = (
  { channels, channels_revision: revision }: Pick<AppRow, "channels" | "channels_revision">,
  checks: AccountCheckRows,
) =>
  shownAccounts(channels)
    .map(({ channel }) => channel)
    .filter((channel) => checks.get(channel)?.revision !== revision);

/** Condition AccountsVerified: whether the providers take the accounts. */
export const accountsVerified = (accounts: readonly TestedAccount[]): Finding => {
  if (accounts.length === 0) return { status: "True", reason: "NoAccounts", message: "the app has no account" };
  const by = (result: LastCheck["result"] | undefined): string =>
    accounts
      .filter(({ last }) => last?.result === result)
      .map(described)
      .join("; ");
  const [refusals, unreached, unchecked] = [by("refused"), by("unreached"), by(undefined)];
  if (refusals !== "") return refused("AccountRefused", refusals);
  if (unreached !== "") return waiting("ProviderUnreached", unreached);
  if (unchecked !== "") return waiting("AccountNotChecked", `not tested yet: ${unchecked}`);
  return { status: "True", reason: "AccountsAccepted", message: "the providers take the accounts" };
};

const described = ({ channel, provider, last }: TestedAccount): string => {
  const account = `${channel} (${provider})`;
  if (last === null) return account;
  const { reason, provider_code: code } = last;
  const isQuoted = code === null || reason?.includes(code) === true;
  return `${account}: ${reason}${isQuoted ? "" : `, ${code}`}${code === silence && channel === "email" ? privateServer : ""}`;
};

const silence = "ETIMEDOUT"; // what a NetworkPolicy that drops packets looks like
/** A mail server is the only provider that people run themselves. */
const privateServer = ". A mail server in a private network is reached when outgoing.allowedRanges names it";

/** The accounts as the status of the App has them. */
export const accountsStatus = (accounts: readonly TestedAccount[]) =>
  accounts.map(({ channel, provider, last }) => ({
    channel,
    provider,
    ...(last !== null && { result: last.result, checkedAt: last.checked_at.toISOString() }),
  }));
