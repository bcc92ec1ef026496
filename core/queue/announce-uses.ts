import type { MessageRow } from "../storage/messages/message-row.ts";
import { segmentCollection } from "../storage/segments/segments.ts";
import { templateCollection } from "../storage/templates/templates.ts";
import type { Announcer } from "./announce.ts";

/** Announces the segments and the template of a message that waits for its time, or did until now: their `used_by` is another. */
export const announceUses = (
  { changed }: Pick<Announcer, "changed">,
  { app_id, scheduled_for, segment_ids = [], template_id }: Named,
): void => {
  if (scheduled_for === null) return; // it waits for nothing
  for (const id of segment_ids) changed(segmentCollection.name, id, app_id);
  if (template_id !== undefined) changed(templateCollection.name, template_id, app_id);
};

type Named = Pick<MessageRow, "app_id" | "scheduled_for" | "segment_ids" | "template_id">;
