type Take<T> = (work: T, how: { isRepeated?: boolean }) => Promise<void>;

/** Gives work to one of some dispatchers; what it gives up the queue hands out again, marked as repeated, to the next. */
export const handOut = async <T>(
  to: readonly Take<T>[],
  n: number,
  work: T,
  how: { isRepeated?: boolean } = {},
): Promise<void> => {
  const isTaken = await to[n % to.length]?.(work, how).then(
    () => true,
    () => false,
  );
  if (isTaken === false) await handOut(to, n + 1, work, { isRepeated: true });
};
