import type { Clock } from "#core/domain/clock.ts";
import { minuteMs } from "#core/domain/durations.ts";
import { longestWindowMs, type Outcomes } from "#core/domain/events/attribution.ts";
import type { Effects, Followed } from "#core/storage/messages/effects.ts";
import type { Stored } from "./store.ts";

export type FollowDeps = {
  effects: Pick<Effects, "ofPeople" | "follow">;
  /** What the app says of them. */
  outcomesOf: (appId: string) => Promise<Outcomes>;
  clock: Clock;
};

/**
 * Notes at the deliveries whose effect is measured that their person converted, for those who were sent nothing as for the
 * others: whatever led them to it, in the time in which a delivery may have. Source: docs/reference/variants.md#effect.
 */
export const followEvents =
  ({ effects, outcomesOf, clock }: FollowDeps) =>
  async (events: readonly Stored[]): Promise<void> => {
    for (const [appId, of] of Map.groupBy(events, ({ row }) => row.app_id)) {
      const people = of.flatMap(({ row }) => row.user_id ?? []);
      const at = of.map(({ row }) => row.occurred_at.getTime());
      const from = new Date(Math.min(...at) - longestWindowMs);
      const found = await effects.ofPeople(appId, people, from, new Date(Math.max(...at)));
      if (found.length === 0) continue;
      const { influenced_minutes: minutes } = await outcomesOf(appId);
      const instants = Map.groupBy(of, ({ row }) => row.user_id ?? "");
      const followed = found.flatMap(({ user_id: person, measured_at: since, ...delivery }): Followed[] => {
        const after = (instants.get(person) ?? [])
          .map(({ row }) => row.occurred_at.getTime())
          .filter((ms) => ms >= since.getTime() && ms - since.getTime() <= minutes * minuteMs);
        return after.length === 0 ? [] : [{ ...delivery, at: new Date(Math.min(...after)) }];
      });
      await effects.follow(followed, clock.now());
    }
  };
