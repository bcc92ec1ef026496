import type { Resource } from "#core/runtime/kube/objects.ts";
import { type IncidentSpec, incidentResource } from "#core/schema/status/resource.ts";
import type { IncidentStatus } from "#core/schema/status/vocabulary.ts";
import { type IncidentRow, incidentCollection } from "#core/storage/status/incidents.ts";
import type { Handler } from "../engine/handler.ts";
import { defineKind, type Tools } from "../records/kind.ts";

type Incident = Resource<IncidentSpec, { id?: string; status?: IncidentStatus }>;
type Deps = Tools<Incident, IncidentRow>;

/** Incident: a document of the installation. */
export const incident = defineKind<Incident, IncidentRow>({
  definition: incidentResource,
  what: "incident",
  collection: incidentCollection,
  handler: (tools) => handler(tools),
});

const handler = ({ record, clock }: Deps): Handler<Incident> => ({
  reconcile: async (resource, signal) => {
    const set = membersOf(resource.spec);
    const status = { status: set.status };
    const stand = await record.look(resource);
    if (stand.kind !== "write") return record.report(resource, stand, () => ({ status, members: set }), signal);
    const result = await record.keep(resource, stand, { set, begin: { created_at: clock.now() } });
    return "verdict" in result ? result.verdict : record.kept(resource, result, status);
  },
  remove: (resource, signal) => record.drop(resource, {}, signal),
});

/** What the resource says, with the newest update first. */
const membersOf = ({ title, severity, components, startedAt, updates }: IncidentSpec) => {
  const said = updates.map(({ at, status, message }) => ({ status, message, created_at: new Date(at) }));
  const newestFirst = said.sort((a, b) => b.created_at.getTime() - a.created_at.getTime());
  const began = newestFirst.at(-1)?.created_at ?? new Date(0); // sound: there is an update at least
  return {
    title,
    severity,
    components,
    status: newestFirst[0]?.status ?? "investigating",
    updates: newestFirst,
    started_at: startedAt === undefined ? began : new Date(startedAt),
    resolved_at: endOf(newestFirst),
  };
};

/** When it was resolved for the last time; null while it is open. */
const endOf = (newestFirst: readonly { status: IncidentStatus; created_at: Date }[]): Date | null => {
  const reopened = newestFirst.findIndex(({ status }) => status !== "resolved");
  const resolved = reopened === -1 ? newestFirst : newestFirst.slice(0, reopened);
  return resolved.at(-1)?.created_at ?? null;
};
