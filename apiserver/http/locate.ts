import { invalid, NotFound } from "#core/errors.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Located } from "./route.ts";

type LocatedRequest = Omit<Located<unknown>, "use">;

/** The app that the path names. */
export const appOfPath = ({ params, findApp }: Pick<LocatedRequest, "params" | "findApp">): Promise<AppRow> =>
  findApp(params["appId"] ?? "");

/** The app that the body names; a key for one app implies it. Null when neither says: validation's to refuse. */
export const appOfBody = (asked: LocatedRequest): Promise<AppRow | null> => {
  const { body } = asked;
  return appNamed(typeof body === "object" && body !== null && "app_id" in body ? body.app_id : undefined, asked);
};

/** The same for the query. */
export const appOfQuery = (asked: LocatedRequest): Promise<AppRow | null> => appNamed(asked.query["app_id"], asked);

const appNamed = async (id: unknown, { caller, findApp }: LocatedRequest): Promise<AppRow | null> => {
  const [only, ...others] = caller.key.app_ids ?? [];
  if (id === undefined) return only === undefined || others.length > 0 ? null : findApp(only);
  return typeof id === "string" && id !== "" ? findApp(id) : null;
};

/** What to say when nobody named the app. */
export const requireApp = (app: AppRow | null): AppRow => {
  if (app === null) throw invalid("app_id", "is required: this key is not bound to one app");
  return app;
};

/** What was found. @throws NotFound when it was not */
export const existing = <T>(found: T | null, resource: string): T => {
  if (found === null) throw new NotFound(resource);
  return found;
};
