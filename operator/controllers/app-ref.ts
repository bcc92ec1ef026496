import type { AppSpec } from "#core/schema/resources/app.ts";
import type { AppRow, Apps } from "#core/storage/apps.ts";
import { type Finding, refused, waiting } from "../engine/conditions.ts";
import { keyFrom, type Resource } from "../kube/objects.ts";
import type { Store } from "../kube/store.ts";
import { idOf } from "./common.ts";

export type AppRefDeps = { apps: Pick<Apps, "find">; appStore: Pick<Store<Resource<AppSpec>>, "get"> };

/** `gone`: there is no such App at all, so what hangs on it has to go too. */
export type AppRef = { kind: "found"; row: AppRow } | { kind: "gone" | "waiting"; finding: Finding };

/** The app that a resource names, in its own namespace. */
export const appOf = async ({ apps, appStore }: AppRefDeps, resource: Resource, name: string): Promise<AppRef> => {
  const app = appStore.get(keyFrom(resource.metadata.namespace, name));
  if (app === undefined || app.metadata.deletionTimestamp !== undefined) {
    return { kind: "gone", finding: refused("AppNotFound", `no App ${name} in this namespace`) };
  }
  const row = await apps.find(idOf("app", app));
  if (row !== null) return { kind: "found", row };
  return { kind: "waiting", finding: waiting("AppNotReady", `App ${name} is not there yet; its conditions say why`) };
};
