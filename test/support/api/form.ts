import type { Call } from "./api.ts";

const boundary = "----herald-test";

/** A request's body as multipart/form-data (RFC 7578); the member `file` is sent as a file. */
export const formOf = (members: Readonly<Record<string, string>>): Pick<Call, "raw" | "headers"> => {
  const parts = Object.entries(members).map(([name, value]) => {
    const file = name === "file" ? '; filename="file.csv"' : "";
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  });
  const headers = { "Content-Type": `multipart/form-data; boundary=${boundary}` };
  return { raw: `${parts.join("")}--${boundary}--\r\n`, headers };
};
