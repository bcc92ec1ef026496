import { pushThroughChaos } from "../../support/http2/chaos.ts";
import { atMost, type Figure } from "../figures/figure.ts";

/**
 * Pushes through GOAWAY, resets, silence and limits of 1, 1,000 and 10 streams: what the provider says that it took beside
 * what the client says of each. One push in 1,000 meets a fault, which takes up to as many with it as are under way.
 */
export const pushChaos = async (pushes: number): Promise<Figure[]> => {
  const seed = 7541;
  const result = await pushThroughChaos({ pushes, every: Math.min(1_000, pushes / 20), seed });
  const { answered, uncertain, connections, faults } = result;
  const times = Object.values(faults).reduce((sum, count) => sum + count, 0);
  const how = `of ${pushes}, ${times} faults on ${connections} connections: ${answered} answered, ${uncertain} uncertain`;
  const figure = (name: string, value: number): Figure => ({ name, reach: atMost(0), value, unit: "pushes", how });
  return [
    figure("lost through chaos", result.lost),
    figure("sent twice through chaos", result.twice),
    figure("uncertain to one side only", result.wronglyUncertain),
  ];
};
