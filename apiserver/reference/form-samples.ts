/** A form with a file of the disk; names and values are of a schema's example, and need no quotes. */
export type Form = { fields: readonly [name: string, value: string][]; file: { name: string; path: string } };

/** The lines that make a form ready to be sent, by language; in TypeScript they make `form`. */
export const formPreparations = {
  curl: ({ fields, file }: Form): string[] => [
    ...fields.map(([name, value]) => `-F '${name}=${value}'`),
    `-F '${file.name}=@${file.path};type=text/csv'`,
  ],

  typescript: ({ fields, file }: Form): string[] => [
    'const { openAsBlob } = await import("node:fs");',
    "",
    "const form = new FormData();",
    ...fields.map(([name, value]) => `form.set("${name}", "${value}");`),
    `form.set("${file.name}", await openAsBlob("${file.path}", { type: "text/csv" }), "${file.path}");`,
  ],
};
