import type { ManagedRow } from "#core/storage/settings/managed.ts";

/** Whether a resource has named a member before; a record of a former release says nothing: then it had named all. */
export const hasNamed = (row: ManagedRow | null, member: string): boolean =>
  row !== null && row.managed !== null && (row.managed.members?.includes(member) ?? true);

/**
 * Members that a resource may leave out, as its record gets them: what it says, null for what it said before, and nothing of
 * what is the REST interface's.
 */
export const namedOf = <Members extends object>(row: ManagedRow | null, said: Members): Named<Members> =>
  Object.fromEntries(
    Object.entries(said).flatMap(([name, value]) => {
      if (value !== undefined) return [[name, value]];
      return hasNamed(row, name) ? [[name, null]] : [];
    }),
  ) as Named<Members>; // sound: a part of the same members

type Named<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> | null };
