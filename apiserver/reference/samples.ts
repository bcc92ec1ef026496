import { type Form, formPreparations } from "./form-samples.ts";

/** A request as an example shows it. */
export type SampleRequest = {
  method: string;
  url: string;
  /** Without those that say who calls. */
  headers: Readonly<Record<string, string>>;
  /** Who calls; whatever proves it is in the environment. */
  caller: keyof typeof credentials;
  /** Sent as JSON; left out when there is none. */
  body?: unknown;
  /** Sent as `multipart/form-data` instead. */
  form?: Form;
};

/** As programs that show OpenAPI documents read `x-codeSamples`. */
export type Sample = { lang: string; label: string; source: string };

/** Headers that say who calls: what is before a variable of the environment, and its name. */
const credentials = {
  key: [["Authorization", "Bearer ", "HERALD_TOKEN"]],
  app: [["X-HS-App-Id", "", "HERALD_APP_ID"]],
  device: [
    ["X-HS-App-Id", "", "HERALD_APP_ID"],
    ["X-HS-Subscription-Token", "", "HERALD_SUBSCRIPTION_TOKEN"],
  ],
  nobody: [],
} as const satisfies Record<string, readonly (readonly [name: string, before: string, variable: string])[]>;

/**
 * The same request for a shell and in TypeScript, without a library. The key is in the environment: `HERALD_TOKEN`. More
 * languages are left to generators of clients (docs/decisions/0003).
 */
export const samplesOf = (request: SampleRequest): Sample[] => [
  { lang: "Shell", label: "curl", source: curl(request) },
  { lang: "TypeScript", label: "TypeScript", source: typescript(request) },
];

const jsonOf = (body: unknown): string => JSON.stringify(body, null, 2);

const headersOf = ({ headers, body }: SampleRequest): [name: string, value: string][] => [
  ...Object.entries(headers),
  ...(body === undefined ? [] : [["Content-Type", "application/json"] as [string, string]]),
];

const indented = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const curl = (request: SampleRequest): string => {
  const { method, url, caller, body, form } = request;
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`,
    ...credentials[caller].map(([name, before, variable]) => `-H "${name}: ${before}$${variable}"`),
    ...headersOf(request).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(form === undefined ? [] : formPreparations.curl(form)),
    ...(body === undefined ? [] : [`-d ${quoted(jsonOf(body))}`]),
  ].join(" \\\n  ");
};

const typescript = (request: SampleRequest): string => {
  const { method, url, caller, body, form } = request;
  const headers = [
    ...credentials[caller].map(
      ([name, before, variable]) => `${JSON.stringify(name)}: \`${before}\${process.env.${variable}}\``,
    ),
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
