import type { Resource } from "#core/runtime/kube/objects.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import type { TemplateSpec } from "#core/schema/templates/resource.ts";
import { type Finding, refused } from "../conditions.ts";

/** ConfigMaps by their names; null for one that is not there. */
export type ConfigMapTexts = ReadonlyMap<string, Record<string, string> | null>;

type From = NonNullable<TemplateSpec["contentFrom"]>[number];

/** The ConfigMaps that a template names. */
export const configMapsOf = ({ spec }: Resource<TemplateSpec>): string[] => [
  ...new Set((spec.contentFrom ?? []).map(({ configMapKeyRef: { name } }) => name)),
];

/** The content of a template with its texts from ConfigMaps, as yet unchecked; or which of these there is not. */
export const contentOf = (
  { content = {}, contentFrom = [] }: TemplateSpec,
  texts: ConfigMapTexts,
): { content: Content } | { finding: Finding } => {
  let joined = content as Record<string, unknown>; // sound: the CRD has an object here
  for (const [i, from] of contentFrom.entries()) {
    const at = `spec.contentFrom[${i}]`;
    const text = textOf(from, at, texts);
    if (typeof text !== "string") return { finding: text };
    const next = withMember(joined, from.member, text);
    if (next === null)
      return { finding: refused("ContentInvalid", `${at}.member: ${from.member} stands in spec.content`) };
    joined = next;
  }
  return { content: joined };
};

const textOf = ({ configMapKeyRef: { name, key } }: From, at: string, texts: ConfigMapTexts): string | Finding => {
  const data = texts.get(name) ?? null;
  if (data === null)
    return refused("ConfigMapNotFound", `${at}: ConfigMap ${name} does not exist; it has to have ${key}`);
  const text = Object.hasOwn(data, key) ? data[key] : undefined;
  return text ?? refused("ConfigMapKeyMissing", `${at}: ConfigMap ${name} has no text under ${key}`);
};

/** Null when the member is there already. */
const withMember = (content: Record<string, unknown>, member: string, text: string): Record<string, unknown> | null => {
  const [name = "", below] = member.split(".");
  const former = Object.hasOwn(content, name) ? content[name] : undefined;
  if (below === undefined) return former === undefined ? { ...content, [name]: text } : null;
  if (former !== undefined && (typeof former !== "object" || former === null || Object.hasOwn(former, below)))
    return null;
  return { ...content, [name]: { ...former, [below]: text } };
};

/** Where a fault's member stands: in the resource, or in a ConfigMap. `field` is as faults of a content call it. */
export const placeOf = ({ contentFrom = [] }: TemplateSpec, field: string): string => {
  const from = contentFrom.find(({ member }) => field === `content.${member}`);
  return from === undefined ? `spec.${field}` : `ConfigMap ${from.configMapKeyRef.name}, ${from.configMapKeyRef.key}`;
};
