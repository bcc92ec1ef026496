/** What a template of the simulated business account takes. */
export type KnownTemplate = {
  name: string;
  language: string;
  header?: "text" | "image" | "video" | "document" | "location";
  /** Parameters of its body. */
  body: number;
  buttons?: readonly ("url" | "quick_reply" | "copy_code")[];
};

/** An error of Meta's: its code, and what it says of it. */
export type Refused = { code: number; subcode?: number; details: string };

/** Any object of the request; members are checked one by one. */
export type JsonObject = Record<string, unknown>;

/** What Meta refuses of a message, by what its documents ask for; null for one that it takes. */
export const messageRefusal = (message: JsonObject, templates: readonly KnownTemplate[]): Refused | null => {
  const { messaging_product: product, recipient_type: recipient, to, type, biz_opaque_callback_data: data } = message;
  if (product !== "whatsapp") return missing("messaging_product");
  if (recipient !== "individual") return bad("recipient_type");
  if (typeof to !== "string" || !/^\+?[1-9]\d{6,14}$/.test(to)) return bad("to");
  if (data !== undefined && !isText(data, 512)) return bad("biz_opaque_callback_data");
  const said = objectOf(message[String(type)]);
  if (said === null) return missing(String(type));
  switch (type) {
    case "text":
      return isText(said["body"], 4_096) ? null : bad("text.body");
    case "image":
    case "video":
    case "document":
    case "audio":
      return mediaRefusal(type, said);
    case "interactive":
      return interactiveRefusal(said);
    case "template":
      return templateRefusal(said, templates);
    default:
      return { code: 131051, details: "Unsupported message type" };
  }
};

const missing = (name: string): Refused => ({ code: 131008, details: `${name} is required` });
const bad = (name: string): Refused => ({ code: 131009, details: `${name} is not valid` });

const objectOf = (value: unknown): JsonObject | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null; // any object
const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.map((one) => objectOf(one) ?? {}) : []);
const isText = (value: unknown, most: number): boolean =>
  typeof value === "string" && value !== "" && Array.from(value).length <= most;
const isTextOrNone = (value: unknown, most: number): boolean => value === undefined || isText(value, most);
const isLink = (value: unknown): boolean => typeof value === "string" && /^https?:\/\/[^/]+/.test(value);

const mediaRefusal = (type: string, { link, caption, filename }: JsonObject): Refused | null => {
  if (!isLink(link)) return bad(`${type}.link`);
  if (!isTextOrNone(caption, 1_024) || (type === "audio" && caption !== undefined)) return bad(`${type}.caption`);
  return type === "document" || filename === undefined ? null : bad(`${type}.filename`);
};

const interactiveRefusal = ({ type, header, body, footer, action }: JsonObject): Refused | null => {
  if (!isText(objectOf(body)?.["text"], 1_024)) return bad("interactive.body");
  if (!isTextOrNone(objectOf(footer)?.["text"], 60)) return bad("interactive.footer");
  if (header !== undefined && objectOf(header)?.["type"] !== "text") return bad("interactive.header");
  if (!isTextOrNone(objectOf(header)?.["text"], 60)) return bad("interactive.header");
  const given = objectOf(action) ?? {};
  if (type === "button") return areButtons(given) ? null : bad("interactive.action.buttons");
  return type === "list" && isList(given) ? null : bad("interactive.action.sections");
};

const areButtons = ({ buttons }: JsonObject): boolean => {
  const replies = listOf(buttons).map(({ type, reply }) => (type === "reply" ? (objectOf(reply) ?? {}) : {}));
  const isFine = replies.every(({ id, title }) => isText(id, 256) && isText(title, 20));
  return isFine && isBetween(replies.length, 1, 3) && areDistinct(replies.map(({ title }) => title));
};

const isList = ({ button, sections }: JsonObject): boolean => {
  const parts = listOf(sections);
  const rows = parts.flatMap((part) => listOf(part["rows"]));
  const areTitled = parts.every(({ title }) => (parts.length > 1 ? isText(title, 24) : isTextOrNone(title, 24)));
  const areRows = rows.every(
    ({ id, title, description }) => isText(id, 200) && isText(title, 24) && isTextOrNone(description, 72),
  );
  const isSized = isBetween(parts.length, 1, 10) && isBetween(rows.length, 1, 10);
  return isText(button, 20) && areTitled && areRows && isSized && areDistinct(rows.map(({ id }) => id));
};

const isBetween = (count: number, least: number, most: number): boolean => count >= least && count <= most;
const areDistinct = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

const templateRefusal = (
  { name, language, components }: JsonObject,
  templates: readonly KnownTemplate[],
): Refused | null => {
  const { code, policy } = objectOf(language) ?? {};
  if (policy !== undefined && policy !== "deterministic") return bad("template.language.policy");
  const known = templates.find((one) => one.name === name && one.language === code);
  if (known === undefined) return { code: 132001, details: "template does not exist in the translation" };
  const given = listOf(components);
  const [header, body] = ["header", "body"].map((type) => parametersOf(given.filter((one) => one["type"] === type)));
  if ((body ?? []).length !== known.body || (header ?? []).length !== (known.header === undefined ? 0 : 1)) {
    return { code: 132000, details: "Number of parameters does not match the expected number of params" };
  }
  const areTexts = (body ?? []).every(({ type, text }) => type === "text" && isText(text, 1_024) && isPlain(text));
  const isHeader = known.header === undefined || isParameter(header?.[0] ?? {}, known.header);
  const buttons = given.filter(({ type }) => type === "button");
  const areSet = buttons.every((button) => isButton(button, known.buttons ?? []));
  if (areTexts && isHeader && areSet && buttons.length === (known.buttons ?? []).length) return null;
  return { code: 132012, details: "Parameter format does not match format in the created template" };
};

const parametersOf = (components: readonly JsonObject[]): JsonObject[] =>
  components.flatMap((one) => listOf(one["parameters"]));

const isPlain = (text: unknown): boolean => !/[\n\t]| {5}/.test(String(text));

const isParameter = (parameter: JsonObject, type: string): boolean => {
  const { [type]: value } = parameter;
  if (parameter["type"] !== type) return false;
  if (type === "text") return isText(value, 60);
  const { link, latitude, longitude, name } = objectOf(value) ?? {};
  return type === "location" ? [latitude, longitude, name].every((one) => isText(one, 200)) : isLink(link);
};

const values = {
  url: ["text", "text"],
  quick_reply: ["payload", "payload"],
  copy_code: ["coupon_code", "coupon_code"],
};

const isButton = (
  { sub_type, index, parameters }: JsonObject,
  known: NonNullable<KnownTemplate["buttons"]>,
): boolean => {
  const wanted = known[Number(index)];
  const [parameter = {}, ...others] = listOf(parameters);
  if (wanted === undefined || sub_type !== wanted || others.length > 0) return false;
  const [type = "", member = ""] = values[wanted];
  return parameter["type"] === type && isText(parameter[member], 256);
};
