import type { IncidentNote, IncidentRow } from "#core/storage/status/incidents.ts";
import { escaped } from "../http/markup.ts";
import type { Look } from "./board.ts";

const mostEntries = 50;

/** Every update of the incidents of 90 days, the newest first, as an Atom feed. Source: RFC 4287. `address`: of the page. */
export const feed = ({ incidents, checkedAt }: Look, address: string): string => {
  const entries = incidents.flatMap((incident) => incident.updates.map((update) => ({ incident, update })));
  const newest = entries.sort((a, b) => b.update.created_at.getTime() - a.update.created_at.getTime());
  const updated = newest[0]?.update.created_at ?? checkedAt;
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escaped(address)}</id>
<title>Service status</title>
<author><name>Service status</name></author>
<updated>${updated.toISOString()}</updated>
<link rel="self" href="${escaped(address)}feed.atom"/>
<link rel="alternate" type="text/html" href="${escaped(address)}"/>
${newest
  .slice(0, mostEntries)
  .map((one) => entry(one, address))
  .join("\n")}
</feed>
`;
};

const entry = ({ incident, update }: { incident: IncidentRow; update: IncidentNote }, address: string): string => {
  const at = update.created_at.toISOString();
  const link = escaped(`${address}#${incident._id}`);
  return `<entry>
<id>${link}-${update.created_at.getTime()}</id>
<title>${escaped(`${incident.title}: ${update.status}`)}</title>
<updated>${at}</updated>
<link rel="alternate" type="text/html" href="${link}"/>
<content type="text">${escaped(update.message)}</content>
</entry>`;
};
