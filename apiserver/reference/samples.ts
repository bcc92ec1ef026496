/** A request as an example shows it. */
export type SampleRequest = {
  method: string;
  url: string;
  /** Without the one that names the key. */
  headers: Readonly<Record<string, string>>;
  isPublic: boolean;
  /** Sent as JSON; left out when there is none. */
  body?: unknown;
};

/** As Redoc reads `x-codeSamples`. */
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

const contentOf = ({ headers, body }: SampleRequest): [name: string, value: string][] => [
  ...Object.entries(headers),
  ...(body === undefined ? [] : [["Content-Type", "application/json"] as [string, string]]),
];

const indented = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);

const curl = (request: SampleRequest): string => {
  const { method, url, isPublic, body } = request;
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`,
    ...(isPublic ? [] : [`-H "Authorization: Bearer $${tokenVariable}"`]),
    ...contentOf(request).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(jsonOf(body))}`]),
  ].join(" \\\n  ");
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const typescript = (request: SampleRequest): string => {
  const { method, url, isPublic, body } = request;
  const headers = [
    ...(isPublic ? [] : [`Authorization: \`Bearer \${process.env.${tokenVariable}}\``]),
    ...contentOf(request).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  const members = [
    `method: ${JSON.stringify(method)}`,
    ...(headers.length === 0 ? [] : [`headers: {\n    ${headers.join(",\n    ")},\n  }`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indented(jsonOf(body), "  ")})`]),
  ];
  return `const reply = await fetch(${JSON.stringify(url)}, {
  ${members.join(",\n  ")},
});
console.log(reply.status, await reply.json());`;
};

const python = (request: SampleRequest): string => {
  const { method, url, isPublic, body } = request;
  const headers = [
    ...(isPublic ? [] : [`"Authorization": "Bearer " + os.environ["${tokenVariable}"]`]),
    ...contentOf(request).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  const members = [
    JSON.stringify(url),
    `method=${JSON.stringify(method)}`,
    ...(headers.length === 0 ? [] : [`headers={\n        ${headers.join(",\n        ")},\n    }`]),
    ...(body === undefined ? [] : [`data=json.dumps(${indented(pythonValue(body, ""), "    ")}).encode()`]),
  ];
  return `import json, os, urllib.request

request = urllib.request.Request(
    ${members.join(",\n    ")},
)
with urllib.request.urlopen(request) as reply:
    print(reply.status, json.load(reply))`;
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
  const { method, url, isPublic, body } = request;
  const sent = body === undefined ? "nil" : `strings.NewReader(${goText(jsonOf(body))})`;
  const headers = [
    ...(isPublic ? [] : [`request.Header.Set("Authorization", "Bearer "+os.Getenv("${tokenVariable}"))`]),
    ...contentOf(request).map(
      ([name, value]) => `request.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
    ),
  ];
  return [
    `request, err := http.NewRequest(${JSON.stringify(method)}, ${JSON.stringify(url)}, ${sent})`,
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
