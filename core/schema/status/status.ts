import { type Static, Type } from "typebox";
import { DateTime } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PublicIncident } from "./incident.ts";
import { components, statuses } from "./vocabulary.ts";

const { Array: List, Enum, Object: Group } = Type;

/** One part of the service, as those who use it know it. */
export const ComponentStatus = Group({ name: Enum([...components]), status: Enum([...statuses]) });

/** `GET /status.json`. Source: docs/reference/status.md#document. */
export const StatusDocument = Group({
  status: Enum([...statuses], { description: "of the worst component" }),
  checked_at: DateTime,
  components: List(ComponentStatus, { minItems: components.length, maxItems: components.length }),
  incidents: List(PublicIncident, {
    description: "open ones, and those that ended in the last 7 days; the newest first",
  }),
});
export type StatusDocument = Static<typeof StatusDocument>;

named({ StatusDocument, ComponentStatus });
