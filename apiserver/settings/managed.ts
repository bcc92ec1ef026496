import { AppError } from "#core/errors.ts";
import type { Managed } from "#core/storage/settings/managed.ts";

/**
 * Refuses to change or remove what a custom resource enforces: the change belongs there. What a resource has only made,
 * or has let go of, is the REST interface's, and so are members that it does not name, where its kind owns by member.
 * `changed`: the members of the record that would get another value; left out: it would be removed.
 * @throws AppError HS_MANAGED naming the resource, and the member where it is one of several
 */
export const requireUnmanaged = (
  what: string,
  { managed }: { managed: Managed | null },
  changed?: readonly string[],
): void => {
  if (managed === null || managed.policy !== "Enforce") return;
  const { kind, namespace, name, members } = managed;
  const member = members === undefined ? undefined : changed?.find((one) => members.includes(one));
  if (members !== undefined && changed !== undefined && member === undefined) return;
  const path = namespace === null ? name : `${namespace}/${name}`;
  const of = member === undefined ? `the ${what}` : `${member} of the ${what}`;
  throw new AppError("HS_MANAGED", `${of} is kept as the ${kind} ${path} says: change that`, {
    kind,
    namespace,
    name,
    ...(member !== undefined && { member }),
  });
};
