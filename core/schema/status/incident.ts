import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { components, incidentLimits, incidentStatuses, severities } from "./vocabulary.ts";

const { Array: List, Enum, Object: Group, Optional, String: Text } = Type;

const Title = Text({ minLength: 1, maxLength: incidentLimits.titleCharacters });
const Message = Text({ minLength: 1, maxLength: incidentLimits.messageCharacters, description: "for those who wait" });
const Components = List(Enum([...components]), { minItems: 1, maxItems: components.length, uniqueItems: true });
const Severity = Enum([...severities]);
const IncidentState = Enum([...incidentStatuses]);

/** What was said of an incident at one time. */
export const IncidentUpdate = Group({ status: IncidentState, message: Text(), created_at: DateTime });
export type IncidentUpdate = Static<typeof IncidentUpdate>;

const shown = {
  id: Text(),
  title: Text(),
  status: IncidentState,
  severity: Severity,
  components: List(Enum([...components])),
  started_at: DateTime,
  resolved_at: Nullable(DateTime),
  updates: List(IncidentUpdate, { description: "the newest first" }),
};

/** An incident as everybody sees it in the status document. */
export const PublicIncident = Group(shown);
export type PublicIncident = Static<typeof PublicIncident>;

/** An incident as those who run the service see it. */
export const Incident = Group({ ...shown, created_at: DateTime, updated_at: DateTime });
export type Incident = Static<typeof Incident>;

export const IncidentPage = PageOf(Incident);

/** Body of `POST /v1/incidents`. */
export const CreateIncident = Closed({
  title: Title,
  severity: Severity,
  components: Components,
  status: Optional(Enum([...incidentStatuses], { description: "default investigating" })),
  message: Message,
  started_at: Optional(Type.String({ format: "date-time", description: "default now; not later than now" })),
});
export type CreateIncident = Static<typeof CreateIncident>;

/** Body of `PATCH /v1/incidents/{incidentId}`. */
export const UpdateIncident = Closed({
  title: Optional(Title),
  severity: Optional(Severity),
  components: Optional(Components),
});
export type UpdateIncident = Static<typeof UpdateIncident>;

/** Body of `POST /v1/incidents/{incidentId}/updates`. */
export const AddIncidentUpdate = Closed({ status: IncidentState, message: Message });
export type AddIncidentUpdate = Static<typeof AddIncidentUpdate>;

export const incidentPaging = pagingOf({ sort: "-created_at" });

/** Query of `GET /v1/incidents`. */
export const IncidentListQuery = Group({
  ...incidentPaging.pageQuery,
  status: Optional(List(IncidentState, { maxItems: incidentStatuses.length })),
  ...incidentPaging.sortQuery,
});
export type IncidentListQuery = Static<typeof IncidentListQuery>;

named({ Incident, IncidentPage, IncidentUpdate, PublicIncident, CreateIncident, UpdateIncident, AddIncidentUpdate });
