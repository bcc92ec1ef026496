import { type TSchema, Type } from "typebox";

const { Array: List, Boolean: Bool, Integer, Object: Group, Optional, String: Text } = Type;

/** A group of values that holds nothing else. Every one may be left out: values.yaml gives what is left out. */
export const closed = (description: string, properties: Record<string, TSchema>) =>
  Group(optional(properties), { description, additionalProperties: false });

const optional = (properties: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Optional(schema)]));

export const text = (description: string, options: object = {}) => Text({ description, ...options });
export const flag = (description: string) => Bool({ description });
export const count = (description: string, minimum: number, maximum: number) =>
  Integer({ description, minimum, maximum });

/** A value that sets one of the programs' settings, with its bounds and its description. */
export const setting = (schema: TSchema): TSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== "env" && keyword !== "default"));

/** Labels or annotations. */
export const strings = (description: string) => Type.Record(Text(), Text(), { description });

/** An object or a list of a shape that Kubernetes itself checks. */
export const kubernetes = (description: string) => Group({}, { description, additionalProperties: true });
export const kubernetesList = (description: string) =>
  List(Group({}, { additionalProperties: true }), { description, maxItems: 100 });

export const ports = (description: string) =>
  List(Integer({ minimum: 1, maximum: 65_535 }), { description, minItems: 1, maxItems: 64 });
export const portsOrNone = (description: string) =>
  List(Integer({ minimum: 1, maximum: 65_535 }), { description, maxItems: 64 });
/** Networks, with the length of their prefix, as a NetworkPolicy asks. */
export const ranges = (description: string) =>
  List(Text({ pattern: "^[0-9a-fA-F:.]+/[0-9]{1,3}$" }), { description, maxItems: 64 });
export const texts = (description: string) => List(Text({ minLength: 1 }), { description, maxItems: 100 });

const quantity = (description: string) => Type.Union([Text(), Type.Number()], { description });
const amounts = (description: string) =>
  closed(description, {
    cpu: quantity("processors, e.g. 250m"),
    memory: quantity("e.g. 256Mi"),
    "ephemeral-storage": quantity("disk of the pod, e.g. 64Mi"),
  });

export const resources = (description: string) =>
  closed(description, { requests: amounts("what a node must have free"), limits: amounts("what it may use at most") });

export const image = (description: string) =>
  closed(description, {
    registry: text("host of the registry; empty = the runtime's default"),
    repository: text("name of the image", { minLength: 1 }),
    tag: text("version; empty = the chart's appVersion"),
    digest: text("sha256:… of the image; goes before the tag", { pattern: "^$|^sha256:[0-9a-f]{64}$" }),
    pullPolicy: Type.Enum(["Always", "IfNotPresent", "Never"], { description: "when the image is fetched" }),
  });

/** Name of an object that people bring; empty = none. */
export const existing = (description: string) =>
  text(description, { maxLength: 253, pattern: "^$|^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$" });

/** A Secret that people bring. */
export const existingSecret = (holds: string) => ({
  existingSecret: existing(`name of a Secret of this namespace that holds ${holds}`),
  existingSecretKey: text("the key in that Secret", { minLength: 1, pattern: "^[-._a-zA-Z0-9]+$" }),
});
