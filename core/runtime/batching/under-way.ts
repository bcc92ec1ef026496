/** Calls that have not settled, so that whoever makes them can finish them before it closes. */
export const underWay = () => {
  const calls = new Set<Promise<unknown>>(); // bounded by the callers, who each wait
  const add = <T>(call: Promise<T>): Promise<T> => {
    calls.add(call);
    const remove = (): void => void calls.delete(call);
    call.then(remove, remove);
    return call;
  };
  const settled = async (): Promise<void> => void (await Promise.allSettled(calls));
  return { add, settled, count: (): number => calls.size };
};
