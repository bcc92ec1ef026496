import { type DueIn, isKnownZone } from "./local-time.ts";
import type { KnownClock, QuietHours } from "./quiet-hours.ts";
import { quietUntil } from "./quiet-hours.ts";

/** What of a message decides when its recipients are sent to. */
export type Timing = {
  start: Date;
  appZone: string;
  /** When a zone is due; null: all at the start. */
  dueIn: DueIn | null;
  /** The app's quiet hours, where they hold for it. */
  quiet: { hours: QuietHours; channels: ReadonlySet<string> | null } | null;
  /** Sends a minute at most. */
  ratePerMinute: number | null;
};

/** Recipients who are sent to from an instant on. */
export type Slot = { at: Date; recipients: number; zones: string[] };

export type Schedule = {
  slots: Slot[];
  /** Recipients who are counted by the app's zone, as theirs is not known. */
  zoneUnknown: number;
  /** Recipients whose local time has passed, and who get nothing. */
  missed: number;
  /** Recipients who are held by quiet hours, and who get nothing because of them. */
  quiet: { moved: number; dropped: number };
};

const mostZones = 50; // named of one slot
const mostSlots = 200;

/** Adds recipients to a schedule, whose slots are read at the end. Source: docs/reference/notification-operations.md#schedules. */
export const scheduling = (timing: Timing) => {
  const slots = new Map<number, { recipients: number; zones: Set<string> }>();
  const found: Omit<Schedule, "slots"> = { zoneUnknown: 0, missed: 0, quiet: { moved: 0, dropped: 0 } };
  const put = (at: Date, zone: string): void => {
    const slot = slots.get(at.getTime()) ?? { recipients: 0, zones: new Set() };
    slot.recipients++;
    if (slot.zones.size < mostZones) slot.zones.add(zone);
    slots.set(at.getTime(), slot);
  };
  return {
    /** `own`: when one is due in an optimised message. */
    add: (clock: KnownClock, channel: string, own?: Date): void => {
      const isUnknown = clock.zone === null || !isKnownZone(clock.zone, timing.start);
      const zone = isUnknown ? timing.appZone : (clock.zone ?? timing.appZone);
      if (isUnknown) found.zoneUnknown++;
      const due = own ?? (timing.dueIn === null ? timing.start : timing.dueIn(zone));
      if (due === null) return void found.missed++;
      const until = heldUntil(timing, clock, channel, due);
      if (until === null) return put(due, zone);
      if (timing.quiet?.hours.mode === "drop") return void found.quiet.dropped++;
      found.quiet.moved++;
      put(until, zone);
    },

    result: (): Schedule => ({
      ...found,
      slots: throttled(
        [...slots]
          .sort(([a], [b]) => a - b)
          .map(([at, { recipients, zones }]) => ({
            at: new Date(at),
            recipients,
            zones: [...zones].sort(),
          })),
        timing.ratePerMinute,
      ),
    }),
  };
};

const heldUntil = ({ quiet, appZone }: Timing, clock: KnownClock, channel: string, now: Date): Date | null =>
  quiet === null || (quiet.channels !== null && !quiet.channels.has(channel))
    ? null
    : quietUntil(quiet.hours, { clock, appZone, now });

/** The same at a rate: each slot begins when the one before it is sent, and has whole minutes of sends. */
export const throttled = (slots: readonly Slot[], ratePerMinute: number | null): Slot[] => {
  if (ratePerMinute === null) return slots.slice(0, mostSlots);
  const total = slots.reduce((sum, { recipients }) => sum + recipients, 0);
  const minutes = Math.max(1, Math.ceil(total / ratePerMinute / (mostSlots / 2)));
  const most = ratePerMinute * minutes;
  const made: Slot[] = [];
  let freeMs = 0;
  for (const { at, recipients, zones } of slots)
    for (let left = recipients; left > 0 && made.length < mostSlots; left -= most) {
      const some = Math.min(left, most);
      const fromMs = Math.max(at.getTime(), freeMs);
      freeMs = fromMs + (some / ratePerMinute) * 60_000;
      made.push({ at: new Date(fromMs), recipients: some, zones });
    }
  return made;
};
