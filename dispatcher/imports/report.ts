import { reportHead } from "#core/domain/imports/report.ts";
import type { Content, FileStore } from "#core/storage/files/store.ts";
import { type ImportRow, importFiles } from "#core/storage/imports/imports.ts";

/** Makes one file of the report's parts, in bounded memory. It may run twice. */
export const writeReport = async (
  files: Pick<FileStore, "read" | "write">,
  row: ImportRow,
  parts: readonly number[],
  signal: AbortSignal,
): Promise<void> => {
  const { report, part } = importFiles(row);
  async function* whole(): Content {
    yield Buffer.from(reportHead);
    for (const number of parts.toSorted((a, b) => a - b)) yield* (await files.read(part(number), { signal })) ?? [];
  }
  await files.write(report, whole(), { contentType: "text/csv; charset=utf-8", signal });
};
