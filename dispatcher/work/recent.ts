/** Gives what belongs to a key, made when it is first asked for. At most `most` are kept: those longest unused go first. */
export const recent = <T>(most: number, make: (key: string) => T): ((key: string) => T) => {
  const kept = new Map<string, T>();
  return (key) => {
    const one = kept.get(key) ?? make(key);
    kept.delete(key);
    kept.set(key, one);
    if (kept.size > most) forgetOldest(kept);
    return one;
  };
};

const forgetOldest = (kept: Map<string, unknown>): void => {
  const [oldest] = kept.keys();
  if (oldest !== undefined) kept.delete(oldest);
};
