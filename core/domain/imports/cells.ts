/** What a cell says: a value, nothing (undefined), or what is wrong with it. */
export type Read<T> = { value: T | undefined; problem: string | null };

export const nothing = { value: undefined, problem: null } as const;
const read = <T>(value: T): Read<T> => ({ value, problem: null });
const unread = (problem: string): Read<never> => ({ value: undefined, problem });

const firstYear = Date.UTC(1990, 0);
const dayMs = 86_400_000;

/**
 * An instant as `2018-10-26 08:48:42` (which is UTC), Unix seconds or ISO 8601. One that is a little ahead is now; nobody was
 * seen tomorrow, nor before 1990.
 */
export const instantOf = (cell: string, now: Date): Read<Date> => {
  if (cell === "") return nothing;
  const ms = msOf(cell);
  if (!(ms >= firstYear && ms <= now.getTime() + dayMs)) return unread("is no instant");
  return read(new Date(Math.min(ms, now.getTime())));
};

const msOf = (cell: string): number => {
  if (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?( UTC)?$/.test(cell))
    return Date.parse(`${cell.slice(0, 10)}T${cell.slice(11, 19)}Z`);
  if (/^\d{9,10}(\.\d+)?$/.test(cell)) return Math.floor(Number(cell)) * 1000;
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(cell) ? Date.parse(cell) : Number.NaN;
};

/** A number that counts; at most a billion. */
export const countOf = (cell: string): Read<number> => {
  if (cell === "") return nothing;
  return /^\d{1,9}$/.test(cell) ? read(Number(cell)) : unread("is no count");
};

export const flagOf = (cell: string): Read<boolean> => {
  const flag = flags.get(cell.toLowerCase());
  return flag === undefined ? unread("is neither true nor false") : read(flag);
};

const flags = new Map([
  ...["t", "true", "1"].map((word) => [word, true] as const),
  ...["f", "false", "0", ""].map((word) => [word, false] as const),
]);

/** A JSON object that can be stored as it is. */
export const objectOf = (cell: string): Read<Record<string, unknown>> => {
  if (cell === "") return nothing;
  try {
    const value: unknown = JSON.parse(cell);
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value) && isStorable(value, 1);
    if (isMap) return read(value as Record<string, unknown>); // sound: it is an object and no list
  } catch {
    // its error shows the cell
  }
  return unread("is no JSON object that can be stored");
};

const deepest = 20;

/** As in bodies of requests: docs/reference/requests.md#bodies. */
const isStorable = (node: unknown, depth: number): boolean => {
  if (typeof node === "string") return node.isWellFormed() && !node.includes("\0");
  if (typeof node !== "object" || node === null) return true;
  if (depth > deepest) return false;
  return Object.entries(node).every(
    ([name, member]) => name !== "__proto__" && isStorable(name, depth) && isStorable(member, depth + 1),
  );
};

const language = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

/** A language as BCP 47 writes it; `_` is taken for `-`. */
export const languageOf = (cell: string): Read<string> => {
  if (cell === "") return nothing;
  const [first = "", ...rest] = cell.split(/[-_]/);
  const tag = [first.toLowerCase(), ...rest].join("-");
  return language.test(tag) && tag.length <= 35 ? read(tag) : unread("is no language tag");
};
