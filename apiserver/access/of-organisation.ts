import { AppError } from "#core/errors.ts";
import type { Caller } from "./caller.ts";

/**
 * What is the organisation's is for keys of all its apps only: one of some apps neither sees nor changes it.
 * @throws AppError HS_FORBIDDEN
 */
export const ofOrganisation = async ({ caller }: { caller: Caller }): Promise<null> => {
  if (caller.key.app_ids === null) return null;
  throw new AppError("HS_FORBIDDEN", "a key that is bound to apps has no part in what is the organisation's", {
    reason: "key_of_apps",
  });
};
