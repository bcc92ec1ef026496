/** Reads JSON of others, of which nothing is certain. */

/** What a text is as JSON; null when it is none. */
export const jsonOf = (text: string | Buffer): unknown => {
  try {
    return JSON.parse(text.toString());
  } catch {
    return null;
  }
};

/** The member of members (`mail`, `headers`) of a value; undefined when there is none. */
export const memberOf = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (within, name) =>
      typeof within === "object" && within !== null && Object.hasOwn(within, name)
        ? Reflect.get(within, name)
        : undefined,
    value,
  );

/** The same when it is a text that is not empty; else null. */
export const textOf = (value: unknown, ...path: readonly string[]): string | null => {
  const text = memberOf(value, ...path);
  return typeof text === "string" && text !== "" ? text : null;
};

/** The same when it is a list; else an empty one. */
export const listOf = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const list = memberOf(value, ...path);
  return Array.isArray(list) ? list : [];
};

/** An instant of ISO 8601, or of seconds since 1970; null for anything else. */
export const instantOf = (value: unknown, ...path: readonly string[]): Date | null => {
  const given = memberOf(value, ...path);
  const at = typeof given === "number" ? new Date(given * 1_000) : new Date(typeof given === "string" ? given : "");
  return Number.isNaN(at.getTime()) ? null : at;
};
