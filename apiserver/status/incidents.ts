import type { Clock } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import { AppError, invalid, NotFound } from "#core/errors.ts";
import {
  type AddIncidentUpdate,
  type CreateIncident,
  type Incident,
  type IncidentListQuery,
  incidentPaging,
  type UpdateIncident,
} from "#core/schema/status/incident.ts";
import { incidentLimits } from "#core/schema/status/vocabulary.ts";
import type { IncidentRow, Incidents } from "#core/storage/status/incidents.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { laterThan, writeAsIs } from "../settings/write-as-is.ts";
import { incidentView } from "./views.ts";

export type IncidentDeps = { store: Incidents; cursors: Cursors; clock: Clock };

const what = "incident";

/** What those who run the service do with incidents. Source: docs/reference/status.md#incidents. */
export const incidentUseCases = ({ store, cursors, clock }: IncidentDeps) => {
  const write = (found: IncidentRow, set: (row: IncidentRow) => Partial<IncidentRow>): Promise<IncidentRow> =>
    writeAsIs({
      what,
      found,
      reread: ({ _id }) => store.find(_id),
      attempt: async (row) => {
        requireUnmanaged(what, row);
        return store.change(row, { ...set(row), updated_at: laterThan(row.updated_at, clock.now()) });
      },
    });
  return {
    list: (query: IncidentListQuery): Promise<Page<Incident>> =>
      readPage({
        cursors,
        paging: incidentPaging,
        list: "incidents",
        query,
        read: (page) => store.page(query.status, page),
        positionOf: (row: IncidentRow) => row._id,
        view: incidentView,
      }),

    find: async (id: string): Promise<IncidentRow> => {
      const found = await store.find(id);
      if (found === null) throw new NotFound(what);
      return found;
    },

    create: async (id: string, body: CreateIncident): Promise<IncidentRow> => {
      const row = newIncident(id, body, clock.now());
      await store.insert(row);
      return row;
    },

    change: (found: IncidentRow, body: UpdateIncident): Promise<IncidentRow> => write(found, () => body),

    /** The incident has the update's status from then on. `request`: the repeatable one that it is of. */
    addUpdate: (found: IncidentRow, { status, message }: AddIncidentUpdate, request?: string): Promise<IncidentRow> =>
      write(found, ({ updates, resolved_at: before }) => {
        if (updates.length >= incidentLimits.updates) throw tooMany();
        const now = clock.now();
        const end = status === "resolved" ? (before ?? now) : null;
        const note = { status, message, created_at: now, ...defined({ request }) };
        return { status, resolved_at: end, updates: [note, ...updates] };
      }),

    remove: async (found: IncidentRow): Promise<void> => {
      await writeAsIs({
        what,
        found,
        reread: ({ _id }) => store.find(_id),
        attempt: async (row) => {
          requireUnmanaged(what, row);
          return (await store.remove(row)) || null;
        },
      });
    },
  };
};

const newIncident = (id: string, body: CreateIncident, now: Date): IncidentRow => {
  const { title, severity, components, status = "investigating", message } = body;
  const startedAt = body.started_at === undefined ? now : new Date(body.started_at);
  if (startedAt > now) throw invalid("started_at", "must not be later than now");
  return {
    _id: id,
    title,
    severity,
    components,
    status,
    updates: [{ status, message, created_at: now }],
    started_at: startedAt,
    resolved_at: status === "resolved" ? now : null,
    managed: null,
    created_at: now,
    updated_at: now,
  };
};

const tooMany = (): AppError =>
  new AppError("HS_CONFLICT", `an incident has at most ${incidentLimits.updates} updates`, {
    limit: incidentLimits.updates,
  });
