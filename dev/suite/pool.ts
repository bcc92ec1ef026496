/**
 * Does each piece of work in one of `size` places, in the order given; a place takes the next piece when it is done with
 * one. The work gets the number of its place, from 0: no other has it at the same time.
 */
export const inPlaces = async <T, R>(
  pieces: readonly T[],
  size: number,
  work: (piece: T, place: number) => Promise<R>,
): Promise<R[]> => {
  const waiting = pieces.map((piece, index) => ({ piece, index }));
  const results: R[] = [];
  const occupy = async (place: number): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      results[next.index] = await work(next.piece, place);
    }
  };
  await Promise.all(Array.from({ length: Math.min(size, pieces.length) }, (_, place) => occupy(place)));
  return results;
};
