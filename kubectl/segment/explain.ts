import type { SegmentExplanation } from "#core/schema/segments/segment.ts";
import { text } from "../kit/arguments.ts";
import type { Run, Terminal } from "../kit/command.ts";
import { UsageError } from "../kit/errors.ts";
import { printed } from "../kit/output.ts";
import { table } from "../kit/table.ts";
import { idNamed } from "../rest/named.ts";
import { openRest } from "../rest/rest.ts";

/** Prints whether somebody is in a segment, and why. */
export const runExplain: Run = async (given, tools) => {
  const [segment, person] = given.operands;
  if (segment === undefined || person === undefined) throw new UsageError("name a segment and an external id");
  const rest = await openRest(given, tools, "admin");
  const id = await idNamed(rest, { list: "segments", what: "segment", prefix: "seg" }, segment);
  const path = `${rest.ofApp}/segments/${id}/explain?external_id=${encodeURIComponent(person)}`;
  const found = await rest.get<SegmentExplanation>(path);
  const format = text(given, "output");
  if (format === "json" || format === "yaml") tools.out(printed(found, format));
  else tools.out(told(found, { segment, person }, tools.terminal));
  return found.member ? 0 : 1;
};

const told = (
  { member, conditions }: SegmentExplanation,
  { segment, person }: { segment: string; person: string },
  terminal: Terminal,
): string => {
  const rows = conditions.map(({ path, passed, value }) => [
    path,
    { text: passed ? "pass" : "stop", colour: passed ? ("green" as const) : ("red" as const) },
    JSON.stringify(value),
  ]);
  const head = `${person} is ${member ? "" : "not "}in ${segment}.\n`;
  return conditions.length === 0 ? head : `${head}\n${table(["CONDITION", "VERDICT", "FOUND"], rows, terminal)}`;
};
