import { AppError } from "#core/errors.ts";
import type { Managed } from "#core/storage/settings/managed.ts";

/**
 * Refuses to change or remove what a custom resource enforces: the change belongs there. What a resource has only made,
 * or has let go of, is the REST interface's.
 * @throws AppError HS_MANAGED naming the resource
 */
export const requireUnmanaged = (what: string, { managed }: { managed: Managed | null }): void => {
  if (managed === null || managed.policy !== "Enforce") return;
  const { kind, namespace, name } = managed;
  const path = namespace === null ? name : `${namespace}/${name}`;
  throw new AppError("HS_MANAGED", `the ${what} is kept as the ${kind} ${path} says: change that`, {
    kind,
    namespace,
    name,
  });
};
