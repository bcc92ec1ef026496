/**
 * Does each piece of work in one of `size` places, in the order given; a place takes the next piece when it is done with
 * one. The work gets the number of its place, from 0: no other has it at the same time. Once `signal` aborts nothing more
 * is begun; the results are those of what was.
 */
export const inPlaces = async <T, R>(
  pieces: readonly T[],
  size: number,
  work: (piece: T, place: number) => Promise<R>,
  signal: AbortSignal = new AbortController().signal,
): Promise<R[]> => {
  const waiting = [...pieces.entries()];
  const results = new Map<number, R>();
  const occupy = async (place: number): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      const [index, piece] = next;
      results.set(index, await work(piece, place));
    }
  };
  await Promise.all(Array.from({ length: Math.min(size, pieces.length) }, (_, place) => occupy(place)));
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
};
