/** What each rule is about; its name stands behind each finding and in SARIF. */
export const rules = {
  yaml: "A file is YAML or JSON that can be read, and no member stands in it twice.",
  kind: "apiVersion and kind name a kind that this release knows.",
  name: "Each resource has a name that Kubernetes takes, and no two of a kind have the same.",
  namespace: "A kind of a namespace stands in one, and a kind of the cluster in none.",
  "unknown-member": "A member that the schema does not have is dropped by the API server without a word.",
  schema: "Every member has the type, form and bounds of its kind's schema.",
  cel: "Every rule between members that the API server checks holds.",
  "time-zone": "A time zone is one of the IANA database.",
  filter: "A webhook's filters can be met, and a segment's can be read.",
  template: "A Liquid template can be parsed.",
  "in-app-message": "An in-app message's variants and triggers are what they have to be.",
  "activity-schema": "A live activity type's schema can be met.",
  reference: "What a resource refers to is among the files: its App, Plan and Tenant.",
  "namespace-owner": "A namespace belongs to one Tenant.",
  plan: "The tenant's plan includes what its resources use, and has room for them.",
  "name-taken": "A name that is unique in an app or tenant is taken once.",
  secret: "No two resources write the same Secret, and none is committed with its values.",
} as const;

export type Rule = keyof typeof rules;

/** Something that is wrong in a file. An error is refused by the cluster or never becomes Ready; a warning may be meant. */
export type Finding = {
  rule: Rule;
  level: "error" | "warning";
  file: string;
  /** From 1. */
  line: number;
  column: number;
  /** `Kind namespace/name`; null when it could not be told. */
  resource: string | null;
  /** Path of the member, e.g. `spec.channels.ios`; empty for the whole. */
  path: string;
  message: string;
};

/** Names and indexes that lead to a member. */
export type Path = readonly (string | number)[];

/** A path as people read it. */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (!/^[A-Za-z_][\w-]*$/.test(step)) return `${text}[${JSON.stringify(step)}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");

/** The steps of such a path, e.g. of a CEL rule's `fieldPath` or of a check that the programs share. */
export const stepsOf = (text: string): Path =>
  [...text.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(([, quoted, index, name]) =>
    index === undefined ? (quoted ?? name ?? "") : Number(index),
  );
