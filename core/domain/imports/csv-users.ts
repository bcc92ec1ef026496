import type { Channel } from "../../schema/vocabulary/channels.ts";
import { countOf, instantOf, languageOf, objectOf, type Read } from "./cells.ts";
import { type Cells, deviceOf, isId, nameProblem, tagOf, zoneOf } from "./members.ts";
import { faulty, type ImportedAddress, type ImportedPerson, type ImportedRow } from "./row.ts";

/** Reads a row of a `csv_users` file. Whatever is wrong with it makes it faulty. Source: docs/reference/imports.md#our-columns. */
export const csvUserOf = (cells: Cells, now: Date): ImportedRow => {
  try {
    const address = addressOf(cells);
    return { kind: "row", person: personOf(cells, address, now), address, skipped: null, notes: [] };
  } catch (error) {
    if (error instanceof BadCell) return faulty(error.message);
    throw error;
  }
};

/** A cell that makes its row faulty. */
class BadCell extends Error {}

const value = <T>(column: string, { value: found, problem }: Read<T>): T | undefined => {
  if (problem !== null) throw new BadCell(`${column} ${problem}`);
  return found;
};

const need = (isGood: boolean, problem: string): void => {
  if (!isGood) throw new BadCell(problem);
};

const channels: readonly Channel[] = ["ios_push", "android_push", "hms_push", "email", "sms"];
const statuses = ["subscribed", "unsubscribed", "invalid"] as const;

const addressOf = ({ cell }: Cells): ImportedAddress | null => {
  const [channel, token, status] = [cell("channel").trim(), cell("token").trim(), cell("status").trim()];
  if (token === "") {
    need(channel === "", "a channel needs a token");
    need(status === "", "a status needs a token");
    return null;
  }
  const known = channels.find((one) => one === channel);
  need(channel !== "", "a token needs a channel");
  need(channel !== "web_push", "web_push cannot be imported: its subscriptions belong to the site's own key");
  if (known === undefined) throw new BadCell(`channel must be one of ${channels.join(", ")}`);
  const wanted = statuses.find((one) => one === status) ?? null;
  need(wanted !== null || status === "", `status must be one of ${statuses.join(", ")}`);
  return { channel: known, token, status: wanted, device: deviceOf({ timezone: zone(cell("timezone").trim()) }) };
};

const zone = (name: string): string | undefined => {
  const found = zoneOf(name);
  need(found !== null || name === "", "timezone must be a name of the IANA time zone database");
  return found ?? undefined;
};

const personOf = (cells: Cells, address: ImportedAddress | null, now: Date): ImportedPerson => {
  const { cell } = cells;
  const externalId = cell("external_id") || null;
  need(externalId !== null || address !== null, "external_id is required in a row without a token");
  need(externalId === null || isId(externalId), "external_id is too long, or a reserved value");
  const language = value("language", languageOf(cell("language").trim()));
  return {
    externalId,
    tags: tagsOf(cells),
    properties: { ...propertiesOf(cells), ...(language !== undefined && { language }) },
    language,
    timeZone: zone(cell("timezone").trim()),
    sessions: value("session_count", countOf(cell("session_count").trim())),
    firstSeenAt: value("first_seen_at", instantOf(cell("first_seen_at").trim(), now)),
    lastActiveAt: value("last_active_at", instantOf(cell("last_active_at").trim(), now)),
  };
};

/** An empty cell of a tag's own column says nothing; in JSON, "" and null remove. */
const tagsOf = (cells: Cells): Record<string, string | null> => {
  const inJson = Object.entries(value("tags", objectOf(cells.cell("tags").trim())) ?? {});
  const all = [...inJson, ...ownColumns(cells, "tag.")].map(([name, tag]) => {
    const isNone = tag === null || tag === "";
    const { value: text, problem } = tagOf(name, isNone ? "" : tag);
    need(problem === null, problem ?? "");
    return [name, isNone ? null : (text ?? null)] as const;
  });
  return Object.fromEntries(all);
};

const propertiesOf = (cells: Cells): Record<string, unknown> => {
  const inJson = Object.entries(value("properties", objectOf(cells.cell("properties").trim())) ?? {});
  const all = [...inJson, ...ownColumns(cells, "property.")];
  for (const [name] of all) need(nameProblem(name) === null, nameProblem(name) ?? "");
  return Object.fromEntries(all);
};

/** The columns that begin so, without those whose cell is empty. */
const ownColumns = ({ cell, names }: Cells, beginning: string): [string, unknown][] =>
  names.flatMap((name): [string, unknown][] => {
    const text = name.startsWith(beginning) ? cell(name) : "";
    return text === "" ? [] : [[name.slice(beginning.length), text]];
  });
