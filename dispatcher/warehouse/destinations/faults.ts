import type { RunErrorCode } from "#core/schema/warehouse/export.ts";
import { DestinationError } from "./destination.ts";

/** What a store answered: its own name of the fault, where it has one, and the status of HTTP. */
export type Answered = { name: string | null; status: number | null };

/**
 * What an owner is told of a fault: its code, and words of ours around the name that the store gave it. What the store wrote
 * besides is not shown: it may hold a key or an address. `byName` has names that say more than the status.
 */
export const storeFault = (
  error: unknown,
  { name, status }: Answered,
  byName: ReadonlyMap<string, RunErrorCode>,
): DestinationError => {
  const refused = causesOf(error).find((one) => one instanceof DestinationError);
  if (refused instanceof DestinationError) return refused; // the guard's, below the client
  const shown = name !== null && /^[A-Za-z0-9]{1,64}$/.test(name) ? name : "Error";
  const code = byName.get(shown) ?? byStatus(status);
  const said =
    code === "NETWORK" ? `the store did not answer (${networkName(error, shown)})` : `the store answered ${shown}`;
  return new DestinationError(code, status === null || code === "NETWORK" ? said : `${said} (${status})`, {
    cause: error,
  });
};

const byStatus = (status: number | null): RunErrorCode => {
  if (status === null) return "NETWORK";
  if (status === 401) return "AUTH";
  if (status === 403) return "PERMISSION";
  if (status === 404 || status === 301) return "NOT_FOUND";
  return status === 507 || status === 429 ? "QUOTA" : "INTERNAL";
};

/** Node's own name of what went wrong on the way, such as ECONNREFUSED. */
const networkName = (error: unknown, otherwise: string): string => {
  const [code] = causesOf(error).flatMap((one) => ("code" in one && typeof one.code === "string" ? one.code : []));
  return code !== undefined && /^[A-Z0-9_]{1,64}$/.test(code) ? code : otherwise;
};

/** An error and what caused it. */
const causesOf = (error: unknown): Error[] => {
  const found: Error[] = [];
  for (let one = error; one instanceof Error && found.length < mostCauses; one = one.cause) found.push(one);
  return found;
};

const mostCauses = 8; // the client's, Node's, the guard's
