/** What is used of `mjml`, which brings no types. Source: https://documentation.mjml.io/#inside-node-js */
declare module "mjml" {
  type MjmlError = { line: number; message: string; tagName: string };

  const mjml2html: (
    mjml: string,
    options: { ignoreIncludes: boolean; validationLevel: "soft" },
  ) => Promise<{ html: string; errors: MjmlError[] }>;

  export default mjml2html;
}
