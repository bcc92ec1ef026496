import { NotFound } from "#core/errors.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { Caller } from "./caller.ts";

/** An app that the caller may use. @throws NotFound for another's, and for one that the key is not for */
export type FindApp = (caller: Caller, id: string) => Promise<AppRow>;

export const findApp =
  ({ app }: Pick<Directory, "app">): FindApp =>
  async ({ tenant, key }, id) => {
    const isOfKey = key.app_ids === null || key.app_ids.includes(id);
    const row = isOfKey ? await app(id) : null;
    if (row === null || row.tenant_id !== tenant._id) throw new NotFound("app");
    return row;
  };
