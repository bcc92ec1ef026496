import { type Form, formPreparations } from "./form-samples.ts";

/** A request as an example shows it. */
export type SampleRequest = {
  method: string;
  url: string;
  /** Without the one that names the key. */
  headers: Readonly<Record<string, string>>;
  isPublic: boolean;
  /** Sent as JSON; left out when there is none. */
  body?: unknown;
  /** Sent as `multipart/form-data` instead. */
  form?: Form;
};

/** As programs that show OpenAPI documents read `x-codeSamples`. */
export type Sample = { lang: string; label: string; source: string };

/** The same request in four languages, each without a library of its own. The key is in the environment: `HERALD_TOKEN`. */
export const samplesOf = (request: SampleRequest): Sample[] => [
  { lang: "Shell", label: "curl", source: curl(request) },
  { lang: "TypeScript", label: "TypeScript", source: typescript(request) },
  { lang: "Python", label: "Python", source: python(request) },
  { lang: "Go", label: "Go", source: go(request) },
];

const tokenVariable = "HERALD_TOKEN";

const jsonOf = (body: unknown): string => JSON.stringify(body, null, 2);

const headersOf = ({ headers, body }: SampleRequest): [name: string, value: string][] => [
  ...Object.entries(headers),
  ...(body === undefined ? [] : [["Content-Type", "application/json"] as [string, string]]),
];

const indented = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const curl = (request: SampleRequest): string => {
  const { method, url, isPublic, body, form } = request;
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`,
    ...(isPublic ? [] : [`-H "Authorization: Bearer $${tokenVariable}"`]),
    ...headersOf(request).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(form === undefined ? [] : formPreparations.curl(form)),
    ...(body === undefined ? [] : [`-d ${quoted(jsonOf(body))}`]),
  ].join(" \\\n  ");
};

const typescript = (request: SampleRequest): string => {
  const { method, url, isPublic, body, form } = request;
  const headers = [
    ...(isPublic ? [] : [`Authorization: \`Bearer \${process.env.${tokenVariable}}\``]),
    ...headersOf(request).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  const members = [
    `method: ${JSON.stringify(method)}`,
    ...(headers.length === 0 ? [] : [`headers: {\n    ${headers.join(",\n    ")},\n  }`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indented(jsonOf(body), "  ")})`]),
    ...(form === undefined ? [] : ["body: form"]),
  ];
  return [
    ...(form === undefined ? [] : formPreparations.typescript(form)),
    `const reply = await fetch(${JSON.stringify(url)}, {`,
    ...members.map((member) => `  ${member},`),
    "});",
    "console.log(reply.status, await reply.json());",
  ].join("\n");
};

const python = (request: SampleRequest): string => {
  const { method, url, isPublic, body, form } = request;
  const headers = [
    ...(isPublic ? [] : [`"Authorization": "Bearer " + os.environ["${tokenVariable}"]`]),
    ...headersOf(request).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
    ...(form === undefined ? [] : ['"Content-Type": "multipart/form-data; boundary=" + boundary']),
  ];
  const members = [
    JSON.stringify(url),
    `method=${JSON.stringify(method)}`,
    ...(headers.length === 0 ? [] : [`headers={\n        ${headers.join(",\n        ")},\n    }`]),
    ...(body === undefined ? [] : [`data=json.dumps(${indented(pythonValue(body, ""), "    ")}).encode()`]),
    ...(form === undefined ? [] : ["data=data"]),
  ];
  return [
    `import json, os, urllib.request${form === undefined ? "" : ", uuid"}`,
    "",
    ...(form === undefined ? [] : formPreparations.python(form)),
    "request = urllib.request.Request(",
    ...members.map((member) => `    ${member},`),
    ")",
    "with urllib.request.urlopen(request) as reply:",
    "    print(reply.status, json.load(reply))",
  ].join("\n");
};

/** A value of JSON as Python writes it. */
const pythonValue = (value: unknown, margin: string): string => {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${margin}    `;
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const items = Array.isArray(value)
    ? value.map((item) => pythonValue(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonValue(item, inner)}`);
  return items.length === 0 ? open + close : `${open}\n${inner}${items.join(`,\n${inner}`)},\n${margin}${close}`;
};

const go = (request: SampleRequest): string => {
  const { method, url, isPublic, body, form } = request;
  const json = body === undefined ? "nil" : `strings.NewReader(${goText(jsonOf(body))})`;
  const headers = [
    ...(isPublic ? [] : [`request.Header.Set("Authorization", "Bearer "+os.Getenv("${tokenVariable}"))`]),
    ...headersOf(request).map(
      ([name, value]) => `request.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
    ),
    ...(form === undefined ? [] : ['request.Header.Set("Content-Type", form.FormDataContentType())']),
  ];
  return [
    ...(form === undefined ? [] : formPreparations.go(form)),
    `request, err := http.NewRequest(${JSON.stringify(method)}, ${JSON.stringify(url)}, ${form === undefined ? json : "body"})`,
    ...stopOnError,
    ...headers,
    "reply, err := http.DefaultClient.Do(request)",
    ...stopOnError,
    "defer reply.Body.Close()",
    "answer, err := io.ReadAll(reply.Body)",
    "fmt.Println(reply.Status, string(answer), err)",
  ].join("\n");
};

const goText = (text: string): string => (text.includes("`") ? JSON.stringify(text) : `\`${text}\``);

const stopOnError = ["if err != nil {", "\tlog.Fatal(err)", "}"];
