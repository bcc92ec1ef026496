import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { showAs } from "#core/schema/json/show.ts";
import { Incident, PublicIncident } from "#core/schema/status/incident.ts";
import type { StatusDocument } from "#core/schema/status/status.ts";
import { components } from "#core/schema/status/vocabulary.ts";
import type { IncidentRow } from "#core/storage/status/incidents.ts";
import type { Look } from "./board.ts";

const updatesOf = (row: IncidentRow) =>
  row.updates.map(({ status, message, created_at: at }) => ({ status, message, created_at: at.toISOString() }));

/** An incident as those who run the service see it. */
export const incidentView = (row: IncidentRow): Incident =>
  showAs(Incident, { ...row, id: row._id, updates: updatesOf(row) });

const publicIncident = (row: IncidentRow): PublicIncident =>
  showAs(PublicIncident, { ...row, id: row._id, updates: updatesOf(row) });

const recentDays = 7;

/** `GET /status.json`. Source: docs/reference/status.md#document. */
export const documentOf = ({ checkedAt, status, states, incidents }: Look): StatusDocument => ({
  status,
  checked_at: checkedAt.toISOString(),
  components: components.map((name) => ({ name, status: states[name] })),
  incidents: incidents.filter(isRecent(checkedAt)).map(publicIncident),
});

const isRecent =
  (now: ReturnType<Clock["now"]>) =>
  ({ resolved_at: end }: IncidentRow): boolean =>
    end === null || end.getTime() > now.getTime() - recentDays * dayMs;
