/** Keys of people (`usr_…`, `external_id:…`). One alone is no list: the index entries of a list cost three times as much. */
export type StoredPeople = string | string[] | null;

export const storedPeople = (keys: readonly string[]): StoredPeople =>
  keys.length > 1 ? [...keys] : (keys[0] ?? null);

export const peopleIn = (stored: StoredPeople): string[] => [stored ?? []].flat();
