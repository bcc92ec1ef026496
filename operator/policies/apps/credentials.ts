import { type AccountSpecs, accountsOf as accountsIn } from "#core/channels/accounts.ts";
import type { Accounts } from "#core/storage/apps/seal-accounts.ts";
import type { Finding } from "../conditions.ts";
import { fromSecrets, type SecretValues } from "../secret-reader.ts";

/** The provider accounts that an App asks for, or what is wrong with its Secrets. */
export const accountsOf = (
  { channels }: { channels: AccountSpecs },
  secrets: SecretValues,
): { accounts: Accounts } | { finding: Finding } =>
  fromSecrets(secrets, (read) => ({ accounts: accountsIn(channels, read) }));
