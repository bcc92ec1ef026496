/** What stands in place of what was masked. */
const masked = "***";

/** Names whose values are nobody else's business; the name of a Secret is no secret. */
const secretName = /(?:secret|token|passw|pwd|authorization|api-?key|private-?key|credential|cookie|signature|dsn)/i;
const isReference = /(?:Ref|Name|Names|KeyRef)$/;

/** Personal data by the name of its member. */
const personal = /^(?:to|from|address|e-?mail|phone|recipient|external_?id|ip|remote_?address)$/i;

const forms: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/g, masked],
  [/(\/\/)[^/\s:@"']+:[^/\s@"']+@/g, `$1${masked}@`], // a user and a password of an address
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${masked}`],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, masked], // JSON web tokens
  [/\bwhsec_[\w+/=-]+/g, masked],
  [/[\w.+%-]+@[\w-]+(?:\.[\w-]+)+/g, masked], // e-mail addresses
  [/(?<![\w.:-])\+\d{7,15}\b/g, masked], // phone numbers, E.164
  [/([?&][\w-]*(?:token|secret|key|signature|sig|password)[\w-]*=)[^&\s"']+/gi, `$1${masked}`],
];

/** Ids of Herald, UUIDs and digests of images are needed to find things again. */
const kept = /^(?:[a-z]{2,5}_[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Long words of letters and digits are keys and tokens of devices more often than not. */
const longWord = /(sha256:)?[A-Za-z0-9_+/=-]{32,}/g;

const isTokenLike = (word: string): boolean =>
  !kept.test(word) &&
  /\d/.test(word) &&
  /[A-Za-z]/.test(word) &&
  !word.includes("/herald") &&
  !/^[a-z0-9]+(?:-[a-z0-9]+)+$/.test(word);

/** A text without what looks like a secret or a person's address. */
export const maskText = (text: string): string => {
  const shown = forms.reduce((so, [form, instead]) => so.replace(form, instead), text);
  return shown.replace(longWord, (word, digest: string | undefined) =>
    digest === undefined && isTokenLike(word) ? masked : word,
  );
};

/** A value without what its members' names say is secret or personal, and without what looks so. */
export const maskValue = (value: unknown, name = ""): unknown => {
  if (typeof value === "string") return isSecret(name) ? masked : maskText(value);
  if (typeof value === "number" && isSecret(name)) return masked;
  if (Array.isArray(value)) return value.map((item: unknown) => maskValue(item, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, below]) => [maskText(member), maskValue(below, member)]),
  );
};

const isSecret = (name: string): boolean => (secretName.test(name) && !isReference.test(name)) || personal.test(name);

/** A line of a log: by its members when it is JSON, else as a text. */
export const maskLine = (line: string): string => {
  try {
    return JSON.stringify(maskValue(JSON.parse(line)));
  } catch {
    return maskText(line);
  }
};
