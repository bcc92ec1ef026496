import { expect } from "chai";
import { signer } from "#core/domain/signer.ts";
import { AppError } from "#core/errors.ts";
import { addressIn } from "#core/storage/files/folder/address.ts";
import { download } from "../../../../apiserver/files/outside.ts";
import type { OutsideRequest } from "../../../../apiserver/http/outside.ts";

const now = new Date("2026-11-23T12:00:00Z");
const made = signer([Buffer.alloc(32, 1)]);
const file = {
  key: "exports/app_1/exp_1.csv",
  fileName: "users.csv",
  contentType: "text/csv; charset=utf-8",
  expiresAt: new Date("2026-11-23T12:00:10Z"),
};
const address = new URL(addressIn("https://herald.example/", made, file));

type FileRequest = { at?: Date; method?: string; sizeBytes?: number | null };

const answer = async (target: string, { at = now, method = "GET", sizeBytes = 3 }: FileRequest = {}) => {
  const files = { kind: "folder" as const, sizeOf: async () => sizeBytes, read: async () => null };
  const ask = download({ files, signer: made, clock: { now: () => at } });
  const request = { method, target, signal: new AbortController().signal } as OutsideRequest;
  return ask(request).then(
    ({ status, headers }) => ({ status, headers }),
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );
};

describe("the download of a file", () => {
  const target = `${address.pathname}${address.search}`;

  it("is what the signed address says", async () => {
    expect(await answer(target)).to.deep.equal({
      status: 200,
      headers: {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": 'attachment; filename="users.csv"',
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
      },
    });
  });

  const refused = [
    { it: "of another file", target: target.replace("exp_1", "exp_2") },
    { it: "for longer", target: target.replace(/expires=\d+/, "expires=99999999999") },
    { it: "under another name", target: target.replace("users.csv", "users.html") },
    { it: "as another type", target: target.replace("type=text", "type=image") },
    { it: "without a signature", target: address.pathname },
    { it: "after its time", target, at: new Date("2026-11-23T12:00:10Z") },
    { it: "that is gone", target, sizeBytes: null },
    { it: "by POST", target, method: "POST" },
  ];
  for (const { it: name, target, ...more } of refused)
    it(`leads nowhere ${name}`, async () => {
      expect(await answer(target, more)).to.equal("HS_NOT_FOUND");
    });
});
