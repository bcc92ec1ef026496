import type { MessageAim } from "#core/domain/segments/aim.ts";
import type { Audience } from "#core/storage/people/subscription-counts.ts";
import type { SegmentRow } from "#core/storage/segments/segments.ts";

/** How many subscribed subscriptions a segment had on each channel when it was counted. */
type LastCount = { byChannel: [channel: string, count: number][]; at: Date };

export type LastCountOf = (audience: Audience, aim: MessageAim) => Promise<LastCount | null>;

type Counted = Pick<SegmentRow, "_id" | "by_channel" | "counted_at">;

/**
 * Gives the last exact count of the segment that an audience is, on the channels that it reaches; null where it is not one
 * segment and nothing else, or that has not been counted. Source: docs/reference/messages.md#estimate.
 */
export const lastCount =
  (segments: { called: (appId: string, ids: readonly string[]) => Promise<readonly Counted[]> }): LastCountOf =>
  async ({ appId, reach, testOnly }, aim) => {
    const id = onlySegment(aim);
    if (id === null || testOnly || reach.some(({ status }) => status !== "subscribed")) return null;
    const segment = (await segments.called(appId, [id])).find(({ _id }) => _id === id);
    const { by_channel: counts = null, counted_at: at = null } = segment ?? {};
    if (counts === null || at === null) return null;
    return { byChannel: reach.map(({ channel }) => [channel, counts[channel] ?? 0]), at };
  };

const onlySegment = ({ isEveryone, included, excluded, filter }: MessageAim): string | null => {
  const [id = null, ...others] = new Set(included);
  return isEveryone || others.length > 0 || excluded.length > 0 || filter !== null ? null : id;
};
