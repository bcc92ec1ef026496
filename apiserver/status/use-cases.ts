import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { NotFound } from "#core/errors.ts";
import { incidents } from "#core/storage/status/incidents.ts";
import type { Cursors } from "../http/pages.ts";
import { type Located } from "../http/route.ts";
import type { Board } from "./board.ts";
import { incidentUseCases } from "./incidents.ts";
import { isCalled } from "./operating-tenant.ts";
import { documentOf } from "./views.ts";

export type StatusPlatform = {
  db: Db;
  cursors: Cursors;
  clock: Clock;
  status: Pick<Board, "now">;
  settings: { operatingTenant?: string | undefined };
};

export type StatusUse = ReturnType<typeof statusUseCases>;

/** What the operations on the status page and incidents do. */
export const statusUseCases = ({ db, cursors, clock, status, settings }: StatusPlatform) => ({
  ...incidentUseCases({ store: incidents(db), cursors, clock }),
  /** The one that a request made which was cut short; null when it made none. */
  made: incidents(db).find,
  document: () => documentOf(status.now()),

  /** Incidents are the installation's: only keys of the tenant that runs it know of them. @throws NotFound for others */
  requireOperating: ({ caller: { tenant, key } }: Pick<Located<unknown>, "caller">): void => {
    const wanted = settings.operatingTenant;
    const isMeant = wanted !== undefined && isCalled(tenant, wanted) && key.app_ids === null;
    if (!isMeant) throw new NotFound("route");
  },
});
