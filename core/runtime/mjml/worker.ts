import mjml2html from "mjml";
import { beginJob, serve } from "../threads/serve.ts";
import { mjmlLimits } from "./limits.ts";

/** `isTemplate`: what it says is Liquid, none of which may be left out. */
export type MjmlJob = { app: string; mjml: string; isTemplate: boolean };

/** What is wrong with a template, and where: its line and column, counted from 1, where they are known. */
export type MjmlFault = { line: number | null; column: number | null; message: string };

/** The HTML, or what is wrong with the template. */
export type Compiled = { html: string } | { faults: MjmlFault[] };

serve(async ([job]: MjmlJob[]): Promise<Compiled[]> => {
  beginJob();
  return job === undefined ? [] : [await compile(job)];
});

/** The library leaves includes out without a word, and reads no file. */
const compile = async ({ mjml, isTemplate }: MjmlJob): Promise<Compiled> => {
  const include = mjml.search(/<mj-include[\s/>]/i);
  if (include !== -1) return { faults: [faultAt(mjml, include, "mj-include is not available")] };
  try {
    const { html, errors } = await mjml2html(mjml, { ignoreIncludes: true, validationLevel: "soft" });
    if (errors.length > 0) return { faults: errors.slice(0, mjmlLimits.errors).map((error) => said(mjml, error)) };
    const lost = isTemplate ? lostLiquid(mjml, html) : -1;
    if (lost !== -1) return { faults: [faultAt(mjml, lost, "Liquid outside of a component is left out: use mj-raw")] };
    if (Buffer.byteLength(html) <= mjmlLimits.outputBytes) return { html };
    return faultOf(`becomes HTML of ${Buffer.byteLength(html)} bytes; at most ${mjmlLimits.outputBytes} are sent`);
  } catch (error) {
    return faultOf(
      error instanceof RangeError ? "is nested too deeply" : "must be an <mjml> element with an <mj-body>",
    );
  }
};

const faultOf = (message: string): Compiled => ({ faults: [{ line: null, column: null, message }] });

const faultAt = (text: string, at: number, message: string): MjmlFault => {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message };
};

/** The library gives the line: the first such element of it is where the fault is shown. */
const said = (
  mjml: string,
  { line, tagName, message }: { line: number; tagName: string; message: string },
): MjmlFault => {
  const column = (mjml.split("\n")[line - 1]?.indexOf(`<${tagName}`) ?? -1) + 1;
  return { line, column: Math.max(1, column), message: `${message} (${tagName})`.slice(0, 300) };
};

/**
 * Where MJML has the first output or tag of Liquid that its HTML does not have; -1 when it has all. MJML leaves text
 * between its components out without a word, and a template that loses an `{% if %}` would send everybody everything.
 */
const lostLiquid = (mjml: string, html: string): number => {
  for (const { 0: written, index } of mjml.matchAll(/\{\{.*?\}\}|\{%.*?%\}/gs))
    if (!html.includes(written)) return index;
  return -1;
};
