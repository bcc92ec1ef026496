import type { WebhookHealth } from "#core/domain/webhooks/health.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { WebhookRow, WebhookWork } from "#core/storage/webhooks/webhooks.ts";

/** An endpoint about whose health there is something to write. */
export type Noted = {
  readonly row: WebhookRow;
  readonly health: WebhookHealth;
  /** Whether another process owns it now. */
  readonly isLost: boolean;
  /** Whether it is certainly still ours. */
  mayWrite: () => boolean;
  wrote: (health: WebhookHealth) => void;
  /** Whether its row is to be read again. */
  changed: () => void;
};

export type HealthNotesDeps = {
  endpoints: Pick<WebhookWork, "noteHealth"> & { announce: (endpoint: WebhookRow) => void };
  log: Log;
};

/** What requests showed of endpoints, until it is written. */
export type HealthNotes = Part & {
  /** An urgent one is written within a second, another within five. */
  add: (endpoint: Noted, isUrgent: boolean) => void;
  has: (endpoint: Noted) => boolean;
  /** Writes all that is noted. @throws when the store is away */
  flush: () => Promise<void>;
};

const delayMs = { urgent: 0, usual: 4_000 };
const everyMs = 1_000;
const writeRows = 200;

/** Writes the health of many endpoints in one command. What was lost to another process is forgotten. */
export const healthNotes = ({ endpoints, log }: HealthNotesDeps): HealthNotes => {
  const dueMs = new Map<Noted, number>();

  const write = async (all: readonly Noted[]): Promise<void> => {
    for (const one of all) if (one.isLost) dueMs.delete(one);
    const ours = all.filter((one) => !one.isLost && one.mayWrite());
    const notes = ours.map(({ row, health }) => ({ row, health }));
    for (const one of ours) dueMs.delete(one); // before: what is noted meanwhile is written the next time
    if (ours.length === 0) return;
    try {
      if (!(await endpoints.noteHealth(notes))) for (const one of ours) one.changed(); // its row says whose it is
    } catch (error) {
      for (const one of ours) dueMs.set(one, 0);
      throw error;
    }
    for (const [i, one] of ours.entries()) written(one, notes[i]?.health ?? one.health);
  };
  const written = (one: Noted, health: WebhookHealth): void => {
    const { status } = one.row;
    one.wrote(health);
    if (status !== health.status) endpoints.announce(one.row);
  };
  const writeDue = async (byMs: number): Promise<void> => {
    const due = [...dueMs].flatMap(([one, atMs]) => (atMs <= byMs ? [one] : []));
    for (let from = 0; from < due.length; from += writeRows) await write(due.slice(from, from + writeRows));
  };
  return {
    ...passes({
      name: "webhook health notes",
      everyMs,
      pass: () => writeDue(performance.now()),
      onError: (err) => log.warn({ err, endpoints: dueMs.size }, "webhook_health.not_written"),
    }),
    add: (endpoint, isUrgent) => {
      const atMs = performance.now() + (isUrgent ? delayMs.urgent : delayMs.usual);
      dueMs.set(endpoint, Math.min(dueMs.get(endpoint) ?? atMs, atMs));
    },
    has: (endpoint) => dueMs.has(endpoint),
    flush: () => writeDue(Number.POSITIVE_INFINITY),
  };
};
