import type { Clock } from "#core/domain/clock.ts";
import type { AppActivityTypes } from "#core/storage/live-activities/app-types.ts";
import type { Audit } from "../settings/audit.ts";

/** What changes of live activity types need. */
export type ActivityTypeDeps = {
  types: AppActivityTypes;
  /** Tells every process that a type changed. Best effort. */
  announce: (id: string) => void;
  audit: Audit;
  clock: Clock;
};
