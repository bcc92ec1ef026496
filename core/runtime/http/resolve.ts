import { Resolver } from "node:dns/promises";

/** Every address of a name; none when it has none. Rejects when no name server answers, or when `signal` aborts. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>;

export type DnsOptions = {
  /** Name servers to ask, `127.0.0.1:5353`; those of the machine when left out. */
  servers?: readonly string[];
};

/**
 * Asks DNS by c-ares, for A and AAAA with every CNAME between: a name server that hangs takes no thread from the pool
 * that files and crypto share. Reads no /etc/hosts and appends no search domain. Nothing is kept: each connection asks.
 */
export const dns =
  ({ servers }: DnsOptions = {}): Resolve =>
  async (host, signal) => {
    const resolver = new Resolver(limits);
    if (servers !== undefined) resolver.setServers(servers);
    const stop = (): void => resolver.cancel();
    signal.addEventListener("abort", stop, { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    signal.removeEventListener("abort", stop);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const unanswered = answers.find((answer) => answer.status === "rejected" && !saysNone(answer.reason));
    if (addresses.length === 0 && unanswered?.status === "rejected") throw unanswered.reason;
    return addresses;
  };

const limits = { timeout: 1_000, tries: 2 }; // within the 3 s of a connection

/** A name server said that there is no such name, or no address of this family. */
const saysNone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOTFOUND" || error.code === "ENODATA");
