import { accountsOf as accountsIn, type ChannelAccounts, type SaidAccounts } from "#core/channels/accounts.ts";
import type { Finding } from "../conditions.ts";
import { type Fault, faultFinding, reader, type SecretValues } from "../secret-reader.ts";

export type Accounts = ChannelAccounts<string>;

/** The provider accounts that an App asks for, or what is wrong with its Secrets. No message quotes a value. */
export const accountsOf = (
  { channels }: { channels: SaidAccounts },
  secrets: SecretValues,
): { accounts: Accounts } | { finding: Finding } => {
  const faults: Fault[] = [];
  const read = reader(secrets, faults);
  const accounts = accountsIn(channels, (ref, key, parse) => read(ref, key, parse, ""));
  const finding = faultFinding(faults);
  return finding === null ? { accounts } : { finding };
};
