/** The part of a multipart/report that programs read (RFC 6522): groups of fields, by their names in lower case. */
export type Report = { type: ReportType; groups: readonly ReadonlyMap<string, string>[] };

export type ReportType = keyof typeof partTypes;

/** What the part of a report is. Source: RFC 3464 2 and RFC 6533 3 (delivery-status), RFC 5965 2 (feedback-report). */
const partTypes = {
  "delivery-status": /^message\/(global-)?delivery-status$/,
  "feedback-report": /^message\/feedback-report$/,
} as const;

const mostParts = 10;
const mostGroups = 20;
const mostFields = 50;

/** The report in a mail; null for one that is none. Looks at a bounded part of it, in one pass. */
export const reportIn = (mail: string): Report | null => {
  const { fields, body } = entityOf(mail);
  const contentType = fields.get("content-type") ?? "";
  const type = parameterOf(contentType, "report-type")?.toLowerCase();
  const boundary = parameterOf(contentType, "boundary");
  if (!/^multipart\/report\b/i.test(contentType) || !isReportType(type) || boundary === undefined) return null;
  for (const part of body.split(`--${boundary}`, mostParts).slice(1).map(entityOf)) {
    const [partType = ""] = (part.fields.get("content-type") ?? "").toLowerCase().split(";");
    if (partTypes[type].test(partType.trim())) return { type, groups: groupsIn(part.body) };
  }
  return null;
};

const isReportType = (type: string | undefined): type is ReportType => type !== undefined && type in partTypes;

/** Headers and body of a mail or a part, of which the delimiter's line end is left. */
const entityOf = (text: string): { fields: Map<string, string>; body: string } => {
  const begin = text.search(/[^\r\n]/);
  const end = text.slice(begin).search(/\r?\n\r?\n/);
  if (begin === -1 || end === -1) return { fields: new Map(), body: text };
  return { fields: fieldsIn(text.slice(begin, begin + end)), body: text.slice(begin + end) };
};

const groupsIn = (body: string): Map<string, string>[] =>
  body
    .split(/(?:\r?\n){2,}/, mostGroups)
    .map(fieldsIn)
    .filter(({ size }) => size > 0);

/** The first field of each name, unfolded. Source: RFC 5322 2.2. */
const fieldsIn = (text: string): Map<string, string> => {
  const fields = new Map<string, string>();
  for (const line of text.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/, mostFields)) {
    const [, name = "", value = ""] = /^([!-9;-~]{1,76}):[ \t]*(.*)$/.exec(line) ?? [];
    if (name !== "" && !fields.has(name.toLowerCase())) fields.set(name.toLowerCase(), value.trim());
  }
  return fields;
};

/** A parameter of a header, quoted or not. Source: RFC 2045 5.1. */
const parameterOf = (header: string, name: string): string | undefined => {
  const [, quoted, plain] =
    new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]{1,200})"|([^\\s;"]{1,200}))`, "i").exec(header) ?? [];
  return quoted ?? plain;
};
