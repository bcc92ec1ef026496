/** A history of series, one value a minute in promtool's notation: `0+2x60` grows by 2 sixty times, `5x30` stays at 5. */
export type History = Record<string, string>;

/** What makes an alert fire by a time, and what comes near and does not. */
export type AlertCase = { at: string; fires: History; rests: History };

const installation = 'namespace="herald"';
/** A series of the installation. */
export const all = (metric: string, labels = ""): string => `${metric}{${installation}${labels && `,${labels}`}}`;

/** Of 100 a minute, so many are at most so large; all are at most `most`. */
export const histogram = (metric: string, labels: string, below: Record<string, number>): History =>
  Object.fromEntries(
    Object.entries({ ...below, "+Inf": 100 }).map(([le, count]) => [
      all(`${metric}_bucket`, `${labels && `${labels},`}le="${le}"`),
      `0+${count}x60`,
    ]),
  );

/** A counter that goes from 0 to one of two values at once: the first makes the alert fire, the second does not. */
export const afterStep = (metric: string, labels: string, [fires, rests]: [number, number]): AlertCase => ({
  at: "20m",
  fires: { [all(metric, labels)]: `0x14 ${fires}x20` },
  rests: { [all(metric, labels)]: `0x14 ${rests}x20` },
});
