/** Whether a name is a time zone of the IANA database that this Node carries. */
export const isTimeZone = (name: string): boolean => canonical().has(name) || aliases.has(name) || isAlias(name);

/** To ask Intl for one name takes 0.1 ms and more; to read all of them takes 20 ms, which a start does not wait for. */
const canonical = (): ReadonlySet<string> => (names ??= new Set(Intl.supportedValuesOf("timeZone")));

let names: ReadonlySet<string> | undefined;
/** Those that were asked for. */
const aliases = new Set<string>();
const mostAliases = 1_000; // there are some 200, in as many spellings as letters can be large or small

const isAlias = (name: string): boolean => {
  try {
    if (!/^[A-Za-z]/.test(name)) return false; // Intl takes offsets for names
    new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
  } catch {
    return false; // RangeError: the only way that Intl says so
  }
  if (aliases.size >= mostAliases) aliases.clear();
  aliases.add(name);
  return true;
};
