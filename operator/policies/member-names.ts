import { settingSchemas } from "#core/schema/apps/settings.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";

/** How the spec of a kind calls a member of its record, as people write it; a member that no spec has, as the record does. */
export const memberName = ({ spec }: Pick<ResourceDefinition, "spec">, member: string): string => {
  const camel = member.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  if ("settings" in spec.properties && member in settingSchemas) return `settings.${camel}`;
  const names = [camel, ...(others[member] ?? [])];
  return names.find((name) => (name.split(".")[0] ?? "") in spec.properties) ?? member;
};

const others: Readonly<Record<string, readonly string[]>> = {
  name: ["displayName"],
  app_id: ["appRef"],
  app_ids: ["appRefs"],
  contact_email: ["contact.email"],
  timeout_ms: ["timeoutMilliseconds"],
};
