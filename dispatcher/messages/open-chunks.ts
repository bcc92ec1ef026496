import type { Peers } from "../work/peers.ts";

/** So many are 256,000 recipients, whose ids are in memory for a moment when they are cut. */
const most = 512;

/**
 * Chunks of one message that may be queued or under way at once: what all dispatchers send at the same time, `ofEach`, and as
 * many waiting behind them. More would only make other messages wait.
 */
export const openChunksOf = (ofEach: number, peers: Pick<Peers, "heardOf">): number =>
  Math.min(2 * ofEach * peers.heardOf(), most);
