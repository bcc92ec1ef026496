import { addressKey, type Item } from "./item.ts";

/**
 * Items that have to be written one after another, because they name the same id or address, directly or by way of others:
 * each group in the order of the batch. Most have one item.
 */
export const groupsOf = (items: readonly Item[]): Item[][] => {
  const byName = new Map<string, Item[]>();
  const groups = new Set<Item[]>();
  for (const item of items) {
    const names = namesOf(item);
    const named = new Set(names.map((name) => byName.get(name)).filter((group) => group !== undefined));
    const [group = [], ...smaller] = [...named].toSorted((a, b) => b.length - a.length); // the largest takes the others in
    for (const other of smaller) {
      groups.delete(other);
      group.push(...other);
      for (const name of other.flatMap(namesOf)) byName.set(name, group);
    }
    group.push(item);
    groups.add(group);
    for (const name of names) byName.set(name, group);
  }
  return [...groups].map((group) => group.toSorted((a, b) => a.index - b.index));
};

const namesOf = ({ keys, addressed }: Item): string[] => [...keys, ...addressed.map((one) => `at ${addressKey(one)}`)];
