import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { testDir } from "../../../dev/files/paths.ts";

/** A request as a receiver got it, and the secret that it checks it with. */
export type Case = { secret: string; headers: Record<string, string>; body: Buffer };

/** Runs a recipe of docs/receivers.md; what it says of each case. */
export type Recipe = { file: string; tool: string; judge: (dir: string, cases: readonly Case[]) => Promise<boolean[]> };

const run = promisify(execFile);
const longestMs = 90_000; // Go builds itself a standard library the first time

/** The code blocks of the page by the file names behind their languages. */
export const blocksOf = async (page: string): Promise<Map<string, string>> => {
  const text = await readFile(page, "utf8");
  const found = [...text.matchAll(/^```(\S+) ?(\S*)\n(.*?)^```$/gms)];
  return new Map(found.map(([, language = "", file, code = ""], i) => [file || `block ${i} (${language})`, code]));
};

/** Writes the blocks to a new folder below the project, so that they find its packages. */
export const writeBlocks = async (blocks: ReadonlyMap<string, string>) => {
  await mkdir(testDir, { recursive: true });
  const dir = await mkdtemp(join(testDir, "receivers-"));
  for (const [file, code] of blocks) await writeFile(join(dir, file), code);
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
};

export const isHere = (tool: string): boolean =>
  spawnSync(tool, [tool === "go" || tool === "openssl" ? "version" : "--version"]).status === 0;

const node = (file: string): Recipe => ({
  file,
  tool: "node",
  judge: async (dir, cases) =>
    judged(await fed({ dir, cases, driver: `drive-${file}`, code: nodeDriver(file) }, (driver) => ["node", driver])),
});

const python: Recipe = {
  file: "verify.py",
  tool: "python3",
  judge: async (dir, cases) =>
    judged(await fed({ dir, cases, driver: "drive.py", code: pythonDriver }, (driver) => ["python3", driver])),
};

const go: Recipe = {
  file: "verify.go",
  tool: "go",
  judge: async (dir, cases) => {
    await mkdir(join(dir, "recipes/receiver"), { recursive: true });
    await writeFile(join(dir, "recipes/go.mod"), "module recipes\n\ngo 1.21\n");
    await writeFile(join(dir, "recipes/receiver/verify.go"), await readFile(join(dir, "verify.go")));
    const driver = { dir, cases, driver: "recipes/main.go", code: goDriver };
    return judged(await fed(driver, () => ["go", "run", "."]));
  },
};

const shell: Recipe = {
  file: "verify.sh",
  tool: "openssl",
  judge: async (dir, cases) => {
    const verdicts: boolean[] = [];
    for (const { secret, headers, body } of cases) {
      await writeFile(join(dir, "body"), body);
      const [id, timestamp, signature] = ["id", "timestamp", "signature"].map(
        (name) => headers[`webhook-${name}`] ?? "",
      );
      const env = { ...process.env, WEBHOOK_SECRET: secret };
      const parameters = [join(dir, "verify.sh"), id ?? "", timestamp ?? "", signature ?? "", join(dir, "body")];
      verdicts.push(await run("sh", parameters, { env, timeout: longestMs }).then(() => true, isRefusal));
    }
    return verdicts;
  },
};

/** Exit code 1 is a refusal; anything else is a fault of the script. */
const isRefusal = (error: unknown): false => {
  if (error instanceof Error && "code" in error && error.code === 1) return false;
  throw error;
};

export const recipes: readonly Recipe[] = [
  node("verify.mjs"),
  node("standardwebhooks.mjs"),
  node("svix.mjs"),
  python,
  go,
  shell,
];

type Driver = { dir: string; cases: readonly Case[]; driver: string; code: string };

/** Runs a driver in its folder, with a file of cases as its argument. */
const fed = async ({ dir, cases, driver, code }: Driver, command: (driver: string) => string[]): Promise<string> => {
  const input = join(dir, "cases.json");
  const path = join(dir, driver);
  await writeFile(input, JSON.stringify(cases.map((one) => ({ ...one, body: one.body.toString("base64") }))));
  await writeFile(path, code);
  const [program = "", ...parameters] = command(path);
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod" };
  const options = { cwd: dirname(path), env, timeout: longestMs };
  return (await run(program === "node" ? process.execPath : program, [...parameters, input], options)).stdout;
};

const judged = (text: string): boolean[] => JSON.parse(text) as boolean[]; // the drivers below write nothing else

const nodeDriver = (file: string): string => `
import { readFileSync } from "node:fs";
import { verify } from "./${file}";
const cases = JSON.parse(readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(cases.map(({ secret, headers, body }) => verify(secret, headers, Buffer.from(body, "base64")))));
`;

const pythonDriver = `
import base64, json, sys
from verify import verify
cases = json.load(open(sys.argv[1]))
print(json.dumps([verify(one["secret"], one["headers"], base64.b64decode(one["body"])) for one in cases]))
`;

const goDriver = `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"recipes/receiver"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var cases []struct {
		Secret  string
		Headers map[string]string
		Body    []byte
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	verdicts := []bool{}
	for _, one := range cases {
		header := http.Header{}
		for name, value := range one.Headers {
			header.Set(name, value)
		}
		verdicts = append(verdicts, receiver.Verify(one.Secret, header, one.Body))
	}
	out, _ := json.Marshal(verdicts)
	fmt.Println(string(out))
}
`;
