import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { Resolve } from "#core/runtime/http/resolve.ts";
import { DestinationError } from "./destination.ts";

export type GuardedDeps = {
  guard: AddressGuard;
  resolve: Resolve;
  /** How long a request with its repeats may take; left out: what a part may. */
  mostMs?: number;
};

export type GuardedAgents = ReturnType<typeof guardedAgents>;

const mostConnections = 4; // of one run
const lookupMs = 5_000;

/**
 * Agents for a client library whose connections go to addresses that were judged: a name is resolved anew for each
 * connection, and every address that it leads to must be allowed (docs/decisions/0013). Addresses in the place of names are
 * judged before, by `guard.problemOf`: Node looks up names alone. `store` says by which protocol and port they are made.
 */
export const guardedAgents = ({ guard, resolve }: GuardedDeps, store: URL) => {
  const judge = async (host: string, signal: AbortSignal): Promise<string[]> => {
    const found = isIP(host) === 0 ? await resolve(host, signal).catch(unresolved) : [host];
    if (found.length === 0) throw new DestinationError("NETWORK", "the name of the store has no address");
    if (found.every((address) => guard.mayConnect(address, store))) return found;
    throw new DestinationError("PERMISSION", "the address of the store is private or local, which is not allowed");
  };
  /** As Node calls it: what was judged is what is connected to. */
  const lookUp = async (...[host, options, done]: Parameters<LookupFunction>): Promise<void> => {
    try {
      const found = await judge(host, AbortSignal.timeout(lookupMs));
      const all = found.map((address) => ({ address, family: isIP(address) }));
      const [first = { address: "", family: 4 }] = all;
      if (options.all === true) done(null, all);
      else done(null, first.address, first.family);
    } catch (error) {
      done(error instanceof Error ? error : new Error("no address"), "", 4);
    }
  };
  const lookup: LookupFunction = (...asked) => void lookUp(...asked);
  const common = { keepAlive: true, maxSockets: mostConnections, lookup };
  const http = new HttpAgent(common);
  const https = new HttpsAgent({ ...common, rejectUnauthorized: true });
  return {
    http,
    https,
    /** Looks up a host and judges its addresses. @throws DestinationError */
    judge: async (host: string, signal: AbortSignal): Promise<void> =>
      void (await judge(host, AbortSignal.any([signal, AbortSignal.timeout(lookupMs)]))),
    close: (): void => {
      http.destroy();
      https.destroy();
    },
  };
};

const unresolved = (cause: unknown): never => {
  throw new DestinationError("NETWORK", "no name server answered for the name of the store", { cause });
};
