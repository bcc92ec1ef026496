import type { OnPage } from "#core/storage/mongo/pages.ts";
import type { KeptApp, KeptThings } from "../work/kept-apps.ts";

export type EventRetentionDeps = {
  /** The first name of an app's events behind another; null when there is none. */
  nextName: (app: KeptApp, after: string) => Promise<string | null>;
  /** How long the definition of a name keeps events; null: it does not say. */
  daysOf: (app: KeptApp, name: string) => Promise<number | null>;
  removeOlder: (appId: string, name: string, before: Date, onPage: OnPage) => Promise<void>;
};

/** Custom events are kept as long as their definition says, at most as long as the plan does. */
export const keptEvents = ({ nextName, daysOf, removeOlder }: EventRetentionDeps): KeptThings => ({
  name: "event retention",
  says: {
    failed: "event_retention.failed",
    setAside: "event_retention.set_aside",
    done: "event_retention.done",
  },
  remove: async (app, before, onPage, stop) => {
    for (let name = await nextName(app, ""); name !== null && !stop.aborted; name = await nextName(app, name)) {
      const days = Math.min((await daysOf(app, name)) ?? app.days, app.days);
      await removeOlder(app.appId, name, before(days), onPage);
    }
  },
});
