import mjml2html from "mjml";
import { beginJob, serve } from "../threads/serve.ts";
import { mjmlLimits } from "./limits.ts";

export type MjmlJob = { app: string; mjml: string };

/** The HTML, or what is wrong with the template: with the line where it is known. */
export type Compiled = { html: string } | { errors: string[] };

serve(async ([job]: MjmlJob[]): Promise<Compiled[]> => {
  beginJob();
  return job === undefined ? [] : [await compile(job.mjml)];
});

/** The library leaves includes out without a word, and reads no file. */
const compile = async (mjml: string): Promise<Compiled> => {
  const include = mjml.search(/<mj-include[\s/>]/i);
  if (include !== -1) return { errors: [`line ${lineAt(mjml, include)}: mj-include is not available`] };
  try {
    const { html, errors } = await mjml2html(mjml, { ignoreIncludes: true, validationLevel: "soft" });
    if (errors.length > 0) return { errors: errors.slice(0, mjmlLimits.errors).map(said) };
    if (Buffer.byteLength(html) <= mjmlLimits.outputBytes) return { html };
    return { errors: [`becomes HTML of ${Buffer.byteLength(html)} bytes; at most ${mjmlLimits.outputBytes} are sent`] };
  } catch (error) {
    return {
      errors: [error instanceof RangeError ? "is nested too deeply" : "must be an <mjml> element with an <mj-body>"],
    };
  }
};

const lineAt = (text: string, at: number): number => text.slice(0, at).split("\n").length;

const said = ({ line, tagName, message }: { line: number; tagName: string; message: string }): string =>
  `line ${line}: ${message} (${tagName})`.slice(0, 300);
