export type GatherOptions<T, R> = {
  /** Writes several at once; gives each one's result, in their order. A rejection is that of all. */
  write: (items: readonly T[]) => Promise<R[]>;
  /** Items in one write at most. */
  most: number;
  /** What an item weighs, and what those of one write weigh at most in sum: one that weighs more is written alone. */
  weigh?: { of: (item: T) => number; most: number };
  /** Writes under way at most. */
  inFlight: number;
  /** A write begins so long after the one before at the earliest, unless it is full; 0 when left out. */
  everyMs?: number | (() => number);
  /** Whether the first item waits for those of the same turn of the event loop: for many that come at once. */
  isOfTurn?: boolean;
  /**
   * Whether an error may be one item's own: then each is written by itself, so that no other fails with it. `write` must
   * be safe to repeat. Left out: the error is that of all.
   */
  isOfOne?: (error: unknown) => boolean;
};

/**
 * Writes an item at once while there is room, and those that come meanwhile in one batch: alone nobody waits for others,
 * and under load many share one command. Its queue is bounded by its callers, who each wait.
 */
export const gather = <T, R>({
  write,
  most,
  weigh = weightless,
  inFlight,
  everyMs = 0,
  isOfTurn = false,
  isOfOne = () => false,
}: GatherOptions<T, R>): ((item: T) => Promise<R>) => {
  const waiting: Waiting<T, R>[] = [];
  let weight = 0; // of what waits
  let underWay = 0;
  let beganMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;

  const soon = (): void => {
    if (waiting.length === 0) return;
    const isFull = waiting.length >= most || weight >= weigh.most;
    const inMs = isFull ? 0 : beganMs + (typeof everyMs === "number" ? everyMs : everyMs()) - performance.now();
    if (inMs > 0) timer ??= setTimeout(next, inMs);
    else if (isOfTurn && !isFull) immediate ??= setImmediate(next);
    else next();
  };
  /** How many of those that wait are in the next write: at least one. */
  const countOfNext = (): number => {
    let sum = 0;
    const heavy = waiting.findIndex(({ item }, at) => at === most || ((sum += weigh.of(item)) > weigh.most && at > 0));
    return heavy === -1 ? waiting.length : heavy;
  };
  const next = (): void => {
    clearTimeout(timer);
    clearImmediate(immediate);
    timer = immediate = undefined;
    if (underWay >= inFlight) return;
    beganMs = performance.now();
    const batch = waiting.splice(0, countOfNext());
    for (const { item } of batch) weight -= weigh.of(item);
    underWay++;
    void settle({ write, isOfOne }, batch).finally(() => {
      underWay--;
      soon();
    });
  };

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    waiting.push({ item, resolve, reject });
    weight += weigh.of(item);
    soon();
    return promise;
  };
};

const weightless = { of: () => 0, most: Number.POSITIVE_INFINITY };

type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void };

const settle = async <T, R>(
  how: Required<Pick<GatherOptions<T, R>, "write" | "isOfOne">>,
  batch: readonly Waiting<T, R>[],
): Promise<void> => {
  try {
    const results = await how.write(batch.map(({ item }) => item));
    for (const [i, { resolve }] of batch.entries()) resolve(results[i] as R); // sound: one for each item
  } catch (error) {
    if (batch.length > 1 && how.isOfOne(error)) for (const one of batch) await settle(how, [one]);
    else for (const { reject } of batch) reject(error);
  }
};
