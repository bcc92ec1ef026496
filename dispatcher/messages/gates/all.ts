import type { Clock } from "#core/domain/clock.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Check, Gate } from "./gate.ts";
import { session } from "./session.ts";
import { subscriptionState } from "./subscription-state.ts";
import { type SupersededDeps, superseded } from "./superseded.ts";
import { testDevices } from "./test-devices.ts";

export type GateDeps = SupersededDeps & { suppressions: { gate: Gate }; clock: Clock };

/** The gates before a send, in the order in which they are asked. */
export const gates = ({ suppressions, clock, ...deps }: GateDeps): readonly Gate[] => [
  subscriptionState,
  testDevices,
  suppressions.gate,
  session(clock),
  superseded(deps),
];

/** So often gates are opened anew: a STOP counts for everybody who is handed to a provider so much later. */
const reopenMs = 500;

export type OpenGates = {
  message: MessageRow;
  recipients: readonly Reached[];
  chunk: ChunkRow;
  everyMs?: number | undefined;
};

/**
 * Opens gates for the recipients of one run, and anew as long as `work` lasts: what they said last is asked for right
 * before each send. While the store is away they say what they said before.
 */
export const whileOpen = async <T>(
  all: readonly Gate[],
  { message, recipients, chunk, everyMs = reopenMs }: OpenGates,
  work: (check: Check) => Promise<T>,
): Promise<T> => {
  const open = (): Promise<Check> => openGates(all, message, recipients, chunk);
  const state: { latest: Check; opening: Promise<void> | null } = { latest: await open(), opening: null };
  const openAgain = async (): Promise<void> => {
    state.latest = await open().catch(() => state.latest); // the store is away: nobody can opt out meanwhile
    state.opening = null;
  };
  const timer = setInterval(() => void (state.opening ??= openAgain()), everyMs);
  try {
    return await work((recipient) => state.latest(recipient));
  } finally {
    clearInterval(timer);
    await state.opening;
  }
};

/** Opens gates for the recipients of one run: the first that has a reason gives it. */
export const openGates = async (all: readonly Gate[], ...given: Parameters<Gate>): Promise<Check> => {
  const checks: Check[] = [];
  for (const gate of all) checks.push(await gate(...given));
  return (recipient) => {
    for (const check of checks) {
      const reason = check(recipient);
      if (reason !== null) return reason;
    }
    return null;
  };
};
