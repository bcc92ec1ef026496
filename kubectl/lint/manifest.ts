import { type Document, isCollection, isNode, LineCounter, parseAllDocuments } from "yaml";
import { type Finding, type Path, pathText, type Rule } from "./finding.ts";

export type Members = Record<string, unknown>;

/** One resource of a file, with the places of its members. */
export type Manifest = {
  file: string;
  kind: string;
  apiVersion: string;
  namespace: string | undefined;
  name: string;
  value: Members;
  /** A finding about a member of it, or about the nearest that is there. */
  finding: (rule: Rule, path: Path, message: string, level?: Finding["level"]) => Finding;
};

export type Source = { file: string; text: string };

/** The resources of a file, those of a List included, and what of the file cannot be read. */
export const manifestsOf = ({ file, text }: Source): { manifests: Manifest[]; findings: Finding[] } => {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, maxAliasCount: 1_000 } as object); // sound: an option of toJS
  if (!Array.isArray(documents)) return { manifests: [], findings: [] }; // an empty file
  const findings = documents.flatMap(({ errors }) =>
    errors.map(({ message, pos: [at] }): Finding => {
      const { line, col } = lines.linePos(at);
      const [first = message] = message.split(/ at line|\n/, 1);
      return { rule: "yaml", level: "error", file, line, column: col, resource: null, path: "", message: first };
    }),
  );
  const readable = documents.filter(({ errors }) => errors.length === 0);
  return { manifests: readable.flatMap((document) => resourcesOf(file, document, lines)), findings };
};

const resourcesOf = (file: string, document: Document, lines: LineCounter): Manifest[] => {
  const value: unknown = document.toJS({ maxAliasCount: 1_000 });
  if (!isMembers(value)) return [];
  const { kind, items } = value;
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items))
    return items.flatMap((item: unknown, n) =>
      isMembers(item) ? manifestOf(file, item, placesIn(document, lines, ["items", n])) : [],
    );
  return [manifestOf(file, value, placesIn(document, lines, []))];
};

type PlaceOf = (path: Path) => { line: number; column: number };

const manifestOf = (file: string, value: Members, placeOf: PlaceOf): Manifest => {
  const { apiVersion, kind, metadata } = value;
  const { name, namespace } = isMembers(metadata) ? metadata : {};
  const said = { kind: wordOf(kind), name: wordOf(name) };
  const inNamespace = typeof namespace === "string" ? namespace : undefined;
  const resource = `${said.kind} ${inNamespace === undefined ? "" : `${inNamespace}/`}${said.name}`;
  return {
    file,
    ...said,
    apiVersion: wordOf(apiVersion),
    namespace: inNamespace,
    value,
    finding: (rule, path, message, level = "error") => ({
      rule,
      level,
      file,
      ...placeOf(path),
      resource,
      path: pathText(path),
      message,
    }),
  };
};

const wordOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Where a member stands, or the nearest above it that does. */
const placesIn =
  (document: Document, lines: LineCounter, root: Path): PlaceOf =>
  (path) => {
    for (let length = path.length; length >= 0; length--) {
      const at = offsetOf(document, [...root, ...path.slice(0, length)]);
      if (at === undefined) continue;
      const { line, col } = lines.linePos(at);
      return { line, column: col };
    }
    return { line: 1, column: 1 };
  };

/** Of the key, where there is one: it is what a person looks for. */
const offsetOf = (document: Document, path: Path): number | undefined => {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  if (!isNode(node)) return undefined;
  const owner =
    path.length === 0 ? undefined : path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = isCollection(owner) && "items" in owner ? owner.items.find((item) => isPairOf(item, node)) : undefined;
  const key = pair === undefined ? node : (pair as { key: unknown }).key; // sound: isPairOf looked
  return (isNode(key) ? key : node).range?.[0];
};

const isPairOf = (item: unknown, node: unknown): boolean =>
  typeof item === "object" && item !== null && "key" in item && "value" in item && item.value === node;

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
