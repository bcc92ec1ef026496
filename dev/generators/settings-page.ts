import type { TObject } from "typebox";
import { ApiserverConfig } from "#config/apiserver.ts";
import { DispatcherConfig } from "#config/dispatcher.ts";
import { OperatorConfig } from "#config/operator.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** docs/settings.md: every setting of the three programs, from the schemas that read them. */
export const settingsPage = (): GeneratedFile[] => [{ path: "docs/settings.md", text: page }];

const programs: readonly (readonly [string, TObject])[] = [
  ["operator", OperatorConfig],
  ["apiserver", ApiserverConfig],
  ["dispatcher", DispatcherConfig],
];

type Setting = {
  env: string;
  description?: string;
  default?: unknown;
  secret?: boolean;
  minimum?: number;
  maximum?: number;
  enum?: unknown[];
};

const row = (schema: TObject, name: string): string => {
  const setting = schema.properties[name] as unknown as Setting; // sound: every setting carries these keywords
  const cells = [`\`${setting.env}\``, defaultOf(setting, schema.required?.includes(name) ?? false), boundsOf(setting)];
  return `| ${cells.join(" | ")} | ${setting.description ?? ""}${setting.secret === true ? " **Secret.**" : ""} |`;
};

const defaultOf = (setting: Setting, isRequired: boolean): string => {
  if (setting.default !== undefined) return `\`${JSON.stringify(setting.default)}\``;
  return isRequired ? "required" : "unset";
};

const boundsOf = ({ minimum, maximum, enum: values }: Setting): string => {
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(", ");
  return minimum === undefined || maximum === undefined ? "" : `${minimum}–${maximum}`;
};

const section = ([program, schema]: readonly [string, TObject]): string =>
  [
    `## ${program}`,
    "",
    "| variable | default | values | what it does |",
    "|---|---|---|---|",
    ...Object.keys(schema.properties).map((name) => row(schema, name)),
    "",
  ].join("\n");

const page = `# Settings

Each program reads its settings once, at its start, from the environment. \`NAME_FILE\` names a file that holds the value
of \`NAME\`: mount secrets that way. A bad setting stops the program before it opens anything, and all of them are named
at once. What was read is logged as \`config.loaded\`, secrets only as \`set\` or \`unset\`.

Generated from \`config/\` by \`make generate\`.

${programs.map(section).join("\n")}`;
