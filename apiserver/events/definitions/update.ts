import type { Clock } from "#core/domain/clock.ts";
import { invalid } from "#core/errors.ts";
import type { UpdateEventDefinition } from "#core/schema/events/definition.ts";
import {
  type EventDefinitionRow,
  type EventDefinitions,
  eventDefinitionCollection,
} from "#core/storage/events/definitions.ts";
import { rememberChange } from "#core/storage/work/intended-changes.ts";
import { type Audit, type By, intend } from "../../settings/audit.ts";
import { laterThan, writeAsIs } from "../../settings/write-as-is.ts";
import { definitionView, shownDays } from "./views.ts";

export type UpdateDeps = { definitions: Pick<EventDefinitions, "find" | "change">; audit: Audit; clock: Clock };

/**
 * Changes how a name's events are shown, counted and kept; an event reports it. What changes nothing is not reported.
 * @throws ValidationError when events were to be kept for longer than the plan keeps them; NotFound, AppError HS_CONFLICT
 */
export const updateDefinition =
  (deps: UpdateDeps) =>
  (by: By, found: EventDefinitionRow, body: UpdateEventDefinition): Promise<EventDefinitionRow> => {
    requirePlan(by, body);
    return writeAsIs({
      what: "event definition",
      found,
      reread: ({ tenant_id: tenantId, app_id: appId, name }) => deps.definitions.find({ tenantId, appId }, name),
      attempt: (before) => change(deps, by, before, body),
    });
  };

const requirePlan = ({ caller: { plan } }: By, { retention_days: days }: UpdateEventDefinition): void => {
  if (days === undefined || days === null || days <= plan.retention_days) return;
  const limit = plan.retention_days;
  throw invalid("retention_days", `must be at most ${limit}, as the plan keeps events for so long`, { limit });
};

const change = async (
  { definitions, audit, clock }: UpdateDeps,
  by: By,
  before: EventDefinitionRow,
  body: UpdateEventDefinition,
): Promise<EventDefinitionRow | null> => {
  const now = clock.now();
  const after = { ...before, ...body };
  if (Object.keys(body).every((member) => Reflect.get(before, member) === Reflect.get(after, member))) return before;
  const updated = { ...body, updated_at: laterThan(before.updated_at, now) };
  const intended = intend(by, {
    type: "event_definition",
    collection: eventDefinitionCollection.name,
    id: before._id,
    appId: before.app_id,
    verb: "updated",
    before: definitionView(before, shownDays(now)),
    after: definitionView(after, shownDays(now)),
  });
  return audit(intended, (id) => definitions.change(before, { ...updated, ...rememberChange(before, id) }));
};
