import type { Accept, Wanted } from "../accept/accept.ts";
import type { Shares } from "../shares/shares.ts";
import type { Batch, HandOver } from "./hand-over.ts";

export type ByOwnerDeps = {
  /** Unique to this process. */
  holder: string;
  shares: Pick<Shares, "ownerOf" | "look">;
  accept: Accept;
  handOver: HandOver["give"];
  /** Counts endpoints whose events are left to the store, as nobody is known to own them. */
  fallBack: (endpoints: number) => void;
};

/**
 * Gives the events of a batch to the owners of the endpoints that want them. What an owner does not take is tried once more
 * with the table as it is then; what nobody takes is left to the store, where the owner finds it.
 */
export const deliverByOwner =
  ({ holder, shares, accept, handOver, fallBack }: ByOwnerDeps) =>
  async ({ appId, wanted, isRepeated, traceparent }: Batch): Promise<void> => {
    const refused = await give(wanted);
    if (refused.length === 0) return;
    await shares.look().catch(() => undefined);
    const left = await give(refused);
    fallBack(left.length);
    await accept(left, isRepeated, traceparent);

    /** Answers what was not taken. */
    async function give(all: readonly Wanted[]): Promise<Wanted[]> {
      const byOwner = [...Map.groupBy(all, ownerOf)];
      const refusals = byOwner.map(async ([owner, of]) => {
        if (owner !== holder)
          return owner === null ? of : handOver(owner, { appId, wanted: of, isRepeated, traceparent });
        await accept(of, isRepeated, traceparent);
        return [];
      });
      return (await Promise.all(refusals)).flat();
    }
    /** What a disabled endpoint misses is stored by whoever sees it. */
    function ownerOf({ endpoint }: Wanted): string | null {
      return endpoint.status === "disabled" ? holder : shares.ownerOf(endpoint._id);
    }
  };
