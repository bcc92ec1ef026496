import { accountsOf as accountsIn, type ChannelAccounts, type SaidAccounts } from "#core/channels/accounts.ts";
import type { Finding } from "../conditions.ts";
import { fromSecrets, type SecretValues } from "../secret-reader.ts";

export type Accounts = ChannelAccounts<string>;

/** The provider accounts that an App asks for, or what is wrong with its Secrets. */
export const accountsOf = (
  { channels }: { channels: SaidAccounts },
  secrets: SecretValues,
): { accounts: Accounts } | { finding: Finding } =>
  fromSecrets(secrets, (read) => ({ accounts: accountsIn(channels, read) }));
