import type { Content } from "../../schema/messages/notification.ts";

/**
 * What a message says that takes a template: its own members over the template's, one by one. Maps are merged by language
 * or by name. A body of its own takes the place of the template's, in whichever form that is.
 * Source: docs/reference/templates.md#merging.
 */
export const mergedContent = (own: Content, template: Content): Content => {
  const { email_body: body, email_mjml: mjml, ...others } = template;
  const hasBody = Boolean(own.email_body) || Boolean(own.email_mjml);
  const kept = hasBody
    ? others
    : { ...others, ...(body !== undefined && { email_body: body }), ...(mjml !== undefined && { email_mjml: mjml }) };
  return { ...kept, ...own, ...mapsOf(own, template) };
};

const maps = ["headings", "contents", "subtitle", "rcs_fallback_text", "custom_data"] as const;

const mapsOf = (own: Content, template: Content): Content =>
  Object.fromEntries(
    maps.flatMap((name) => (own[name] && template[name] ? [[name, { ...template[name], ...own[name] }]] : [])),
  );
