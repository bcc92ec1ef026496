import type { Counts } from "../../schema/messages/message.ts";
import { type ShownGain, standardControlPercent } from "../../schema/messages/optimized.ts";
import { upliftInterval, upliftOf } from "../experiments/statistics.ts";

/** Counters of those who were sent to in their own hour, and of the control. */
export type TimingCounts = { optimized: Counts; control: Counts };

/** What optimising has gained, by both counters. Source: docs/reference/timing.md#gain. */
export const gainOf = (counts: TimingCounts, controlPercent: number = standardControlPercent): ShownGain => ({
  control_percent: controlPercent,
  optimized: shown(counts.optimized),
  control: shown(counts.control),
  open_rate: by("opened", counts),
  click_rate: by("clicked", counts),
});

const shown = ({ sent = 0, opened = 0, clicked = 0 }: Counts) => ({ sent, opened, clicked });

const by = (member: "opened" | "clicked", { optimized, control }: TimingCounts): ShownGain["open_rate"] => {
  const sample = (counts: Counts) => ({ n: counts.sent ?? 0, conversions: counts[member] ?? 0 });
  const [of, base] = [sample(optimized), sample(control)];
  const [uplift, interval] = [upliftOf(of, base), upliftInterval(of, base)];
  return uplift === null || interval === null ? null : { uplift, interval: [...interval] };
};
