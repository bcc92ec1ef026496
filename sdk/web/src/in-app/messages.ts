import type { Trigger } from "./triggers.ts";

export type InAppButton = {
  id: string;
  text: string;
  action: "dismiss" | "open" | "ask_permission";
  url: string | null;
};

export type InAppContent = {
  layout: "banner" | "modal" | "full" | "center";
  title: string | null;
  body: string | null;
  image_url: string | null;
  buttons: InAppButton[];
  background: string | null;
};

/** A message that is for this browser's person, in their language and variant. */
export type InAppMessage = {
  id: string;
  variant_id: string;
  content: InAppContent;
  triggers: Trigger[];
  redisplay: { limit: number; after_hours: number } | null;
  priority: number;
  start_at: string | null;
  end_at: string | null;
  updated_at: string;
};

/** What this browser did with a message. */
export type Shown = { count: number; lastMs: number; isClicked?: boolean; isDismissed?: boolean };

const hourMs = 3_600_000;

/** Whether it may be shown once more: once in all, or as `redisplay` says. */
export const mayShow = (
  { redisplay }: Pick<InAppMessage, "redisplay">,
  shown: Shown | undefined,
  nowMs: number,
): boolean => {
  if (shown === undefined) return true;
  if (redisplay === null || shown.count >= redisplay.limit) return false;
  return nowMs - shown.lastMs >= redisplay.after_hours * hourMs;
};

/** Whether its time has come and is not over. */
export const isCurrent = ({ start_at: start, end_at: end }: InAppMessage, nowMs: number): boolean =>
  (start === null || Date.parse(start) <= nowMs) && (end === null || Date.parse(end) > nowMs);
