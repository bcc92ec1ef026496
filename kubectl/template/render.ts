import type { RenderTemplateResult } from "#core/schema/templates/render.ts";
import { text } from "../kit/arguments.ts";
import type { Given, Run, Tools } from "../kit/command.ts";
import { UsageError } from "../kit/errors.ts";
import { readObject } from "../kit/input.ts";
import { printed } from "../kit/output.ts";
import { idNamed } from "../rest/named.ts";
import { openRest } from "../rest/rest.ts";

type Shown = RenderTemplateResult["channels"][number];

/** Prints what a template says on each of its channels. */
export const runRender: Run = async (given, tools) => {
  const [template] = given.operands;
  if (template === undefined) throw new UsageError("name a template");
  const body = await bodyOf(given, tools);
  const rest = await openRest(given, tools, "admin");
  const id = await idNamed(rest, { list: "templates", what: "template", prefix: "tpl" }, template);
  const found = await rest.post<RenderTemplateResult>(`${rest.ofApp}/templates/${id}/render`, body);
  const format = text(given, "output");
  if (format === "json" || format === "yaml") tools.out(printed(found, format));
  else tools.out(found.channels.map(told).join("\n"));
  return found.channels.every(isWhole) ? 0 : 1;
};

const bodyOf = async (given: Given, { stdin }: Pick<Tools, "stdin">): Promise<object> => {
  const [to, file, version] = [text(given, "to"), text(given, "data"), text(given, "version")];
  if (version !== undefined && !/^[1-9]\d{0,8}$/.test(version))
    throw new UsageError("--version takes a number, from 1");
  const [channel, language] = [text(given, "channel"), text(given, "language")];
  return {
    ...(to !== undefined && { user: { label: "external_id", id: to } }),
    ...(file !== undefined && { data: await readObject(file, stdin) }),
    ...(channel !== undefined && { channel }),
    ...(language !== undefined && { language }),
    ...(version !== undefined && { version: Number(version) }),
  };
};

const isWhole = ({ errors, aborted }: Shown): boolean => errors.length === 0 && aborted === null;

const told = ({ channel, content, bytes, limit_bytes: limit, missing_variables: missing, aborted, errors }: Shown) => {
  const size = bytes === null ? "" : ` (${bytes}${limit === null ? "" : ` of ${limit}`} bytes)`;
  return [
    `${channel}${size}`,
    ...errors.map(
      ({ member, line, column, message }) => `  error: ${member}, line ${line}, column ${column}: ${message}`,
    ),
    ...(aborted === null ? [] : [`  sends nothing: ${aborted}`]),
    ...missing.map((name) => `  reads ${name}, which there is not`),
    ...(content === null
      ? []
      : [
          printed(content, "yaml")
            .replace(/^(?=.)/gm, "  ")
            .trimEnd(),
        ]),
    "",
  ].join("\n");
};
