import type { Channel } from "../../schema/vocabulary/channels.ts";
import { countOf, flagOf, instantOf, languageOf, objectOf, type Read } from "./cells.ts";
import { type Cells, deviceOf, isId, type Notes, noteTaker, tagOf, zoneOf } from "./members.ts";
import { faulty, type ImportedAddress, type ImportedRow } from "./row.ts";

/** What an app says of the third-party system's devices. */
export type PlayersOptions = { huaweiAs: "android_push" | "hms_push" };

/**
 * Reads a row of a `thirdparty_players` file. What cannot be read of it is left out and noted, as nobody can change the
 * file. Source: docs/reference/imports.md#players.
 */
export const playerOf = (cells: Cells, now: Date, { huaweiAs }: PlayersOptions): ImportedRow => {
  const { cell } = cells;
  const externalId = cell("external_user_id") || null;
  if (externalId !== null && !isId(externalId)) return faulty("external_user_id is too long, or a reserved value");
  const notes = noteTaker();
  const route = routeOf(cell("device_type").trim(), huaweiAs);
  const address = "channel" in route ? addressOf(cells, route, notes) : null;
  const skipped = "skipped" in route ? route.skipped : null;
  const common = { kind: "row" as const, address, notes: notes.all };
  if (externalId === null && address === null)
    return { ...common, person: null, skipped: skipped ?? "names neither a user nor an address" };
  const language = notes.take("language", languageOf(cell("language").trim()));
  const person = {
    externalId,
    tags: tagsOf(cell("tags"), notes),
    properties: language === undefined ? {} : { language },
    language,
    timeZone: notes.take("timezone_id", zoneNamed(cell("timezone_id").trim())),
    sessions: notes.take("session_count", countOf(cell("session_count").trim())),
    firstSeenAt: notes.take("created_at", instantOf(cell("created_at").trim(), now)),
    lastActiveAt: notes.take("last_active", instantOf(cell("last_active").trim(), now)),
  };
  return { ...common, person, skipped };
};

/** Where messages to a device of this type go, or why there is no way to it. */
type Route = { channel: Channel; warning?: string } | { skipped: string };

const notFcm = (of: string) => `its token is one of ${of}, which FCM does not take`;

/** Source of the numbers: docs/reference/imports.md#device-types. */
const routeOf = (deviceType: string, huaweiAs: PlayersOptions["huaweiAs"]): Route => {
  switch (deviceType) {
    case "0":
      return { channel: "ios_push" };
    case "1":
      return { channel: "android_push" };
    case "2":
      return { channel: "android_push", warning: notFcm("Amazon's") };
    case "13":
      return huaweiAs === "hms_push" ? { channel: huaweiAs } : { channel: huaweiAs, warning: notFcm("Huawei's") };
    case "11":
      return { channel: "email" };
    case "14":
      return { channel: "sms" };
    case "5":
    case "7":
    case "8":
    case "9":
    case "10":
    case "17":
      return { skipped: "a browser's subscription cannot be moved: it belongs to the site's own key" };
    default:
      return { skipped: "unsupported device_type" };
  }
};

/** Null for a device that never had permission. */
const addressOf = (
  cells: Cells,
  { channel, warning }: Extract<Route, { channel: Channel }>,
  notes: Notes,
): ImportedAddress | null => {
  const token = tokenOf(channel, cells.cell("identifier").trim());
  if (token === "") return null;
  if (warning !== undefined) notes.add(warning);
  return { channel, token, status: statusOf(cells, notes), device: playerDevice(cells, notes) };
};

/** Old releases of its iOS client kept tokens as a debugger prints them. What is no token at all stays, and is refused as one. */
const tokenOf = (channel: Channel, identifier: string): string => {
  if (channel === "ios_push") return identifier.replaceAll(/[^0-9A-Fa-f]/g, "") || identifier;
  return channel === "email" ? identifier.toLowerCase() : identifier;
};

/** Invalid wins: whoever unsubscribed has no working address then. Only a negative number says that they unsubscribed. */
const statusOf = ({ cell }: Cells, notes: Notes): ImportedAddress["status"] => {
  if (notes.take("invalid_identifier", flagOf(cell("invalid_identifier").trim())) === true) return "invalid";
  const types = cell("notification_types").trim();
  if (types === "") return null;
  if (!/^-?\d{1,9}$/.test(types)) notes.add("notification_types is no number");
  return Number(types) < 0 ? "unsubscribed" : null;
};

const playerDevice = ({ cell }: Cells, notes: Notes): Record<string, string> =>
  deviceOf({
    model: cell("device_model"),
    os_version: cell("device_os"),
    app_version: cell("game_version"),
    locale: cell("language"),
    timezone: zoneOf(cell("timezone_id").trim()) ?? notes.take("timezone", zoneOfSeconds(cell("timezone").trim())),
  });

const zoneNamed = (name: string): Read<string> => {
  const value = zoneOf(name) ?? undefined;
  return { value, problem: value === undefined && name !== "" ? "is no time zone" : null };
};

/** Seconds east of UTC as a zone of POSIX, whose sign is the other way round. There is none for parts of an hour. */
const zoneOfSeconds = (cell: string): Read<string> => {
  const seconds = Number(cell);
  if (cell === "") return { value: undefined, problem: null };
  if (!/^-?\d{1,6}$/.test(cell) || seconds < -12 * 3600 || seconds > 14 * 3600)
    return { value: undefined, problem: "is no offset from UTC" };
  const hours = seconds / 3600;
  if (!Number.isInteger(hours)) return { value: undefined, problem: "has parts of an hour, for which no zone stands" };
  return { value: hours === 0 ? "Etc/GMT" : `Etc/GMT${hours < 0 ? "+" : "-"}${Math.abs(hours)}`, problem: null };
};

const tagsOf = (cell: string, notes: Notes): Record<string, string> => {
  const given = Object.entries(notes.take("tags", objectOf(cell.trim())) ?? {});
  const said = given.filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(
    said.flatMap(([name, value]) => {
      const { value: text, problem } = tagOf(name, value);
      if (problem !== null) notes.add(problem);
      return text === undefined ? [] : [[name, text]];
    }),
  );
};
