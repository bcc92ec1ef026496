import { Unavailable } from "#core/errors.ts";
import type { GuardedClient } from "../net/guarded/client.ts";

/**
 * Fetches an https address of a provider's once, to confirm that its callbacks are wanted. It goes the way of addresses
 * that users give.
 * @throws Unavailable when it was not answered well: it is tried again
 */
export const confirmation =
  ({ request }: Pick<GuardedClient, "request">) =>
  async (address: string, appId: string, signal: AbortSignal): Promise<void> => {
    const reply = await request(
      {
        url: new URL(address),
        method: "GET",
        headers: {},
        body: "",
        poolKey: `callbacks ${appId}`,
        maxConnections: 1,
        mayRepeat: true,
        timeoutMs: 10_000,
        connectTimeoutMs: 5_000,
        maxReplyBytes: 16_384,
      },
      signal,
    );
    const isDone = reply.kind === "answered" && reply.status < 300;
    if (!isDone) throw new Unavailable("the provider that wants its callbacks confirmed");
  };
