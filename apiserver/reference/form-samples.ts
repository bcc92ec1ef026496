/** A form with a file of the disk; names and values are of a schema's example, and need no quotes. */
export type Form = { fields: readonly [name: string, value: string][]; file: { name: string; path: string } };

/** The lines that make a form ready to be sent, by language: `form`, or for Python `boundary` and `data`, for Go also `body`. */
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

  python: ({ fields, file }: Form): string[] => [
    "boundary = uuid.uuid4().hex",
    'part = "--" + boundary + "\\r\\nContent-Disposition: form-data; name="',
    `with open("${file.path}", "rb") as file:`,
    '    data = b"".join([',
    ...fields.map(([name, value]) => `        (part + '"${name}"\\r\\n\\r\\n${value}\\r\\n').encode(),`),
    `        (part + '"${file.name}"; filename="${file.path}"\\r\\nContent-Type: text/csv\\r\\n\\r\\n').encode(),`,
    "        file.read(),",
    '        ("\\r\\n--" + boundary + "--\\r\\n").encode(),',
    "    ])",
    "",
  ],

  go: ({ fields, file }: Form): string[] => [
    `content, err := os.ReadFile("${file.path}")`,
    "if err != nil {",
    "\tlog.Fatal(err)",
    "}",
    "body := &bytes.Buffer{}",
    "form := multipart.NewWriter(body) // writes to memory, which does not fail",
    ...fields.map(([name, value]) => `_ = form.WriteField("${name}", "${value}")`),
    `part, _ := form.CreateFormFile("${file.name}", "${file.path}")`,
    "_, _ = part.Write(content)",
    "_ = form.Close()",
  ],
};
