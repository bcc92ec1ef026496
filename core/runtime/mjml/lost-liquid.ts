/**
 * Where MJML has the first output or tag of Liquid that its HTML does not have; -1 when it has all. MJML leaves text
 * between its components out without a word, and a template that loses an `{% if %}` would send everybody everything.
 */
export const lostLiquid = (mjml: string, html: string): number => {
  for (const { 0: written, index } of mjml.matchAll(/\{\{.*?\}\}|\{%.*?%\}/gs))
    if (!html.includes(written)) return index;
  return -1;
};
