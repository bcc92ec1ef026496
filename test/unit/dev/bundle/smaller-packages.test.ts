import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { build } from "esbuild";
import { smallerPackages } from "../../../../dev/bundle/smaller-packages.ts";
import { rootDir } from "../../../../dev/files/paths.ts";

/** What is compared of the packages, as far as the test calls it. */
type Packages = {
  ConnectionString: new (
    address: string,
  ) => {
    hosts: string[];
    username: string;
    password: string;
    pathname: string;
    isSRV: boolean;
    searchParams: URLSearchParams;
    toString: () => string;
  };
  mimeTypes: {
    types: Record<string, string>;
    lookup: (name: string) => string | false;
    contentType: (name: string) => string | false;
  };
  saslprep: (password: string) => string;
};

const source = `
  export { ConnectionString } from "mongodb-connection-string-url";
  export * as mimeTypes from "mime-types";
  export { saslprep } from "@mongodb-js/saslprep";
`;

const addresses = [
  "mongodb://one:27017,two,[::1]:3/herald?replicaSet=rs&tls=true&readPreferenceTags=dc:ny,rack:1&readPreferenceTags=",
  "mongodb://us%40er:p%3Aa%2Fss@db.example.com/?authSource=admin&RETRYWRITES=false",
  "mongodb+srv://user@cluster.example.com/a%20b?w=majority",
  "mongodb://127.0.0.1",
  "mongodb://%2Ftmp%2Fmongodb-27017.sock/x",
  "mongodb://bücher.example/x",
  "mongodb:///x",
  "mongodb://a:b:c@d/",
  "http://one",
  "mongodb://one/x?appName=%E0%A4%A&a=b#c",
  "",
];

describe("packages that are smaller in the bundles", () => {
  let dir: string;
  let whole: Packages;
  let smaller: Packages;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "smaller-"));
    const bundled = async (name: string, plugins: (typeof smallerPackages)[]): Promise<Packages> => {
      const stdin = { contents: source, resolveDir: rootDir };
      const built = await build({ stdin, bundle: true, format: "cjs", platform: "node", write: false, plugins });
      const file = join(dir, `${name}.cjs`);
      await writeFile(file, built.outputFiles[0]?.contents ?? "");
      return (await import(pathToFileURL(file).href)) as Packages; // what `source` exports
    };
    [whole, smaller] = [await bundled("whole", []), await bundled("smaller", [smallerPackages])];
  });
  after(() => rm(dir, { recursive: true }));

  it("read MongoDB's addresses as before, and refuse the same", () => {
    const read = ({ ConnectionString }: Packages, address: string): unknown => {
      try {
        const one = new ConnectionString(address);
        const { hosts, username, password, pathname, isSRV, searchParams } = one;
        const options = [...searchParams].map(([key, value]) => [key, value, searchParams.get(key.toUpperCase())]);
        return { text: one.toString(), hosts, username, password, pathname, isSRV, options };
      } catch (error) {
        return (error as Error).name; // whose sentence says the reason is the URL's own
      }
    };
    for (const address of addresses) expect(read(smaller, address), address).to.deep.equal(read(whole, address));
    expect(addresses.filter((address) => typeof read(whole, address) === "string")).to.have.length.within(2, 5);
  });

  it("prepare passwords for SCRAM as before, and refuse the same", () => {
    const prepared = ({ saslprep }: Packages, password: string): string => {
      try {
        return `prepared: ${saslprep(password)}`;
      } catch (error) {
        return String(error);
      }
    };
    const printable = Array.from({ length: 0x5f }, (_, at) => String.fromCharCode(0x20 + at)).join("");
    const passwords = [
      printable,
      "",
      "a b",
      "I\u00adX",
      "\u00aa",
      "\u2168",
      "p\u00a0q",
      "\u0007",
      "a\nb",
      "\u0627\u0031",
      "\u{1f511}",
    ];
    for (const password of passwords)
      expect(prepared(smaller, password), JSON.stringify(password)).to.equal(prepared(whole, password));
    expect(passwords.filter((password) => !prepared(whole, password).startsWith("prepared"))).to.have.length(4);
    expect(prepared(smaller, undefined as unknown as string)).to.equal(prepared(whole, undefined as unknown as string));
  });

  it("know the types of the same file names", () => {
    const { types } = whole.mimeTypes;
    expect(Object.keys(types)).to.have.length.above(1_000);
    expect(smaller.mimeTypes.types).to.deep.equal(types);
    for (const name of [...Object.keys(types), "application/json", "text/x-unknown", "application/x-none"])
      expect(smaller.mimeTypes.contentType(name), name).to.equal(whole.mimeTypes.contentType(name));
  });
});
